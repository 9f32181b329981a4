"""The commands of ``lethe``, one a module. What costs time to import is imported inside them."""
