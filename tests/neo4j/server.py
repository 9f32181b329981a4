"""A Neo4j server for tests: put together once from Maven Central, started on a free port, ended with them.

``python tests/neo4j/server.py`` starts one and prints how to use it, until Ctrl-C.
The jars lie in ``~/.cache/lethe-tests/neo4j-VERSION`` (LETHE_TEST_NEO4J_CACHE names another folder).
"""

import ctypes
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import filelock
import neo4j
from neo4j.exceptions import AuthError, DriverError, Neo4jError

POM = Path(__file__).with_name("pom.xml")
HOW_TO_GET_ONE = (
    "install a JDK (17 or newer) and Maven, and the tests put a server together by themselves (some 120 MB, "
    "once); or let LETHE_TEST_NEO4J_URI name an empty one"
)
START_SECONDS = 180.0
USER = "neo4j"
CONF = """\
server.bolt.listen_address=127.0.0.1:{port}
server.bolt.advertised_address=127.0.0.1:{port}
server.http.enabled=false
server.https.enabled=false
dbms.security.auth_enabled=true
dbms.security.auth_lock_time=1ms
server.memory.pagecache.size=64m
dbms.usage_report.enabled=false
"""


class NoServerError(Exception):
    """There is no Neo4j server here; its text says why and how to get one."""


def version() -> str:
    found = re.search(r"<neo4j\.version>([^<]+)<", POM.read_text(encoding="utf-8"))
    assert found is not None
    return found[1]


def assemble() -> Path:
    """The folder of the server's jars, filled when it is not yet. Raises NoServerError."""
    base = os.environ.get("LETHE_TEST_NEO4J_CACHE") or "~/.cache/lethe-tests"
    folder = Path(base).expanduser() / f"neo4j-{version()}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(f"{folder}.lock"):
        if folder.exists():
            return folder
        maven = shutil.which("mvn")
        if maven is None:
            raise NoServerError(f"no Maven (mvn) on the path: {HOW_TO_GET_ONE}")
        with tempfile.TemporaryDirectory(dir=folder.parent) as made:
            target = Path(made) / "lib"
            command = [maven, "-B", "-q", "-f", str(POM), "dependency:copy-dependencies"]
            done = subprocess.run(
                [*command, "-DincludeScope=runtime", f"-DoutputDirectory={target}"],
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                raise NoServerError(f"Maven could not get Neo4j: {done.stdout[-2000:]}\n{HOW_TO_GET_ONE}")
            # A folder that is there is whole: an interrupted download leaves none.
            target.rename(folder)
    return folder


class Server:
    """A server in a folder of its own; it keeps folder, port and password when it is started again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._jars = assemble()
        self._java = shutil.which("java")
        if self._java is None:
            raise NoServerError(f"no Java on the path: {HOW_TO_GET_ONE}")
        self._process: subprocess.Popen[bytes] | None = None
        self.password = secrets.token_hex(8)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        (folder / "conf").mkdir(parents=True)

    @property
    def uri(self) -> str:
        return f"bolt://127.0.0.1:{self.port}"

    @property
    def auth(self) -> tuple[str, str]:
        return (USER, self.password)

    def start(self, *settings: str, wait: bool = True) -> None:
        """settings: further lines of neo4j.conf."""
        conf = CONF.format(port=self.port) + "".join(f"{line}\n" for line in settings)
        (self._folder / "conf" / "neo4j.conf").write_text(conf, encoding="utf-8")
        opened = [
            f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in ("java.nio", "java.io", "sun.nio.ch")
        ]
        assert self._java is not None
        with (self._folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    # Without the optimising compiler a start takes half of its 18 s of processor time.
                    *(self._java, "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
                    *(*opened, "-cp", f"{self._jars}/*"),
                    "org.neo4j.server.CommunityEntryPoint",
                    *(f"--home-dir={self._folder}", f"--config-dir={self._folder / 'conf'}"),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=_end_with_parent if sys.platform == "linux" else None,
            )
        if wait:
            self.wait()

    def wait(self) -> None:
        """Until the server accepts Bolt with this server's password."""
        assert self._process is not None
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                return self._log_in()
            except (DriverError, Neo4jError) as error:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    log = (self._folder / "server.log").read_text(encoding="utf-8", errors="replace")
                    raise NoServerError(f"Neo4j did not start ({error}):\n{log[-3000:]}") from error
            time.sleep(0.2)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(how)
            try:
                self._process.wait(60)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def _log_in(self) -> None:
        try:
            with neo4j.GraphDatabase.driver(self.uri, auth=self.auth, max_transaction_retry_time=0) as driver:
                driver.execute_query("RETURN 1")
        except AuthError:
            # A new server has one well-known password, with which nothing can be done but to change it.
            with neo4j.GraphDatabase.driver(self.uri, auth=(USER, "neo4j")) as driver:
                driver.execute_query(
                    "ALTER CURRENT USER SET PASSWORD FROM 'neo4j' TO $new",
                    new=self.password,
                    database_="system",
                )
            self._log_in()


def _end_with_parent() -> None:
    # Tests that are killed leave no server behind. 1: PR_SET_PDEATHSIG.
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder) / "neo4j")
        server.start()
        sys.stdout.write(
            f"export LETHE_TEST_NEO4J_URI={server.uri} LETHE_NEO4J_USER={USER} "
            f"LETHE_NEO4J_PASSWORD={server.password}\n"
        )
        sys.stdout.flush()
        try:
            signal.pause()
        except KeyboardInterrupt:
            server.stop()


if __name__ == "__main__":
    main()
