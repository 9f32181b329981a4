-- A store as schema 1 had it: a session with each kind of edge, and one of a series.
PRAGMA application_id = 0x4C657468;
BEGIN;
CREATE TABLE edge (
        session INTEGER NOT NULL REFERENCES session (key) ON DELETE CASCADE,
        type TEXT NOT NULL
            CHECK (type IN ('SUBTASK_OF', 'DEPENDS_ON', 'PRODUCED', 'SUPERSEDES', 'SIMILAR_TO')),
        source TEXT NOT NULL,
        target TEXT NOT NULL,
        sequence INTEGER NOT NULL,
        cosine REAL,
        entail_fwd REAL,
        entail_bwd REAL,
        support REAL,
        contradiction REAL,
        equivalence REAL,
        independence REAL,
        confidence REAL,
        direction REAL,
        polarity REAL,
        PRIMARY KEY (session, type, source, target),
        CHECK ((type = 'SIMILAR_TO') = (cosine IS NOT NULL))
    ) STRICT, WITHOUT ROWID;
INSERT INTO "edge" VALUES(1,'PRODUCED','00000001-0000-4000-8000-000000000001','00000004-0000-4000-8000-000000000004',6,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "edge" VALUES(1,'PRODUCED','00000003-0000-4000-8000-000000000003','00000004-0000-4000-8000-000000000004',2,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "edge" VALUES(1,'PRODUCED','00000003-0000-4000-8000-000000000003','00000005-0000-4000-8000-000000000005',3,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "edge" VALUES(1,'PRODUCED','00000003-0000-4000-8000-000000000003','00000006-0000-4000-8000-000000000006',4,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "edge" VALUES(1,'PRODUCED','00000003-0000-4000-8000-000000000003','00000007-0000-4000-8000-000000000007',5,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "edge" VALUES(1,'SIMILAR_TO','00000001-0000-4000-8000-000000000001','00000003-0000-4000-8000-000000000003',9,0.3333333333333333,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "edge" VALUES(1,'SIMILAR_TO','00000004-0000-4000-8000-000000000004','00000006-0000-4000-8000-000000000006',8,0.75,0.125,0.125,0.125,0.125,0.125,0.125,0.125,0.125,0.125);
INSERT INTO "edge" VALUES(1,'SUBTASK_OF','00000003-0000-4000-8000-000000000003','00000001-0000-4000-8000-000000000001',1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "edge" VALUES(1,'SUPERSEDES','00000007-0000-4000-8000-000000000007','00000005-0000-4000-8000-000000000005',7,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE evidence (
        id TEXT PRIMARY KEY,
        session INTEGER NOT NULL REFERENCES session (key) ON DELETE CASCADE,
        short_id TEXT NOT NULL,
        sequence INTEGER NOT NULL,
        created_at REAL NOT NULL,
        content TEXT NOT NULL,
        embed_text TEXT NOT NULL,
        embedding BLOB NOT NULL,
        strength REAL NOT NULL CHECK (strength BETWEEN 0 AND 1),
        base_strength REAL NOT NULL CHECK (base_strength BETWEEN 0 AND 1),
        kind TEXT NOT NULL CHECK (kind IN ('chunk', 'synthesis')),
        source_description TEXT NOT NULL,
        superseded INTEGER NOT NULL CHECK (superseded IN (0, 1)),
        address TEXT NOT NULL,
        title TEXT NOT NULL,
        date TEXT NOT NULL,
        date_source TEXT NOT NULL,
        series TEXT NOT NULL,
        edition TEXT NOT NULL,
        period TEXT NOT NULL,
        newest TEXT NOT NULL,
        page_fingerprint TEXT NOT NULL,
        content_hash TEXT NOT NULL,
        span_start INTEGER NOT NULL,
        span_end INTEGER NOT NULL,
        place TEXT NOT NULL,
        domain TEXT NOT NULL,
        origin_id TEXT NOT NULL,
        UNIQUE (session, sequence),
        UNIQUE (session, short_id)
    ) STRICT;
INSERT INTO "evidence" VALUES('00000004-0000-4000-8000-000000000004',1,'e-0000',1,1001.0,'finding 0','finding',X'00000000000080BF',0.5,0.5,'chunk','',0,'a.md','','','','','','','','','',0,9,'','','');
INSERT INTO "evidence" VALUES('00000005-0000-4000-8000-000000000005',1,'e-00000',2,1001.0,'finding 1','finding',X'0000803F000080BF',0.5,0.5,'chunk','',1,'a.md','','','','','','','','','',0,9,'','','');
INSERT INTO "evidence" VALUES('00000006-0000-4000-8000-000000000006',1,'e-000000',3,1001.0,'finding 2','finding',X'00000040000080BF',0.5,0.5,'chunk','',0,'a.md','','','','','','','','','',0,9,'','','');
INSERT INTO "evidence" VALUES('00000007-0000-4000-8000-000000000007',1,'e-0000000',4,1001.0,'both','both',X'0000003F0000003F',0.6,0.6,'synthesis','',0,'','','','','','','','','','',0,0,'','','');
CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;
INSERT INTO "meta" VALUES('schema_version',1);
CREATE TABLE session (
        key INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        state TEXT NOT NULL,
        dimension INTEGER NOT NULL,
        created_at REAL NOT NULL,
        updated_at REAL NOT NULL,
        last_task INTEGER NOT NULL,
        last_evidence INTEGER NOT NULL,
        last_edge INTEGER NOT NULL,
        revision INTEGER NOT NULL DEFAULT 0,
        owner TEXT NOT NULL DEFAULT '',
        until REAL NOT NULL DEFAULT 0,
        epoch INTEGER NOT NULL DEFAULT 0,
        starts INTEGER NOT NULL DEFAULT 0
    ) STRICT;
INSERT INTO "session" VALUES(1,'s-one','{"session_id":"s-one","uuid":"00000002-0000-4000-8000-000000000002","root":"00000001-0000-4000-8000-000000000001","goal":"How old is the rope?","profile":"test-2","config":{},"status":"running","stop_reason":"","message":"","iterations":1,"seconds":0.0,"tokens":0,"cost":0.0,"n_unanswered":0,"capped":"","reopened_at":-1,"signals":[{"convergence":Infinity}],"phase":null,"searches":[],"notes":[],"skipped":[],"models":[],"block_notices":[],"removed_citations":0,"sections":{},"series":"","n":1,"previous":"","before":null,"known_searches":[],"source_state":"","n_findings":0,"created_at":1000.0,"updated_at":1001.0}',2,1000.0,1002.0,2,4,9,2,'',0.0,1,1);
INSERT INTO "session" VALUES(2,'s-weekly-1','{"session_id":"s-weekly-1","uuid":"00000009-0000-4000-8000-000000000009","root":"00000008-0000-4000-8000-000000000008","goal":"How old is the rope?","profile":"test-2","config":{},"status":"running","stop_reason":"","message":"","iterations":0,"seconds":0.0,"tokens":0,"cost":0.0,"n_unanswered":0,"capped":"","reopened_at":-1,"signals":[],"phase":null,"searches":[],"notes":[],"skipped":[],"models":[],"block_notices":[],"removed_citations":0,"sections":{},"series":"weekly","n":1,"previous":"","before":null,"known_searches":[],"source_state":"","n_findings":0,"created_at":1003.0,"updated_at":1003.0}',2,1003.0,1003.0,1,0,0,0,'',0.0,1,1);
CREATE TABLE task (
        id TEXT PRIMARY KEY,
        session INTEGER NOT NULL REFERENCES session (key) ON DELETE CASCADE,
        short_id TEXT NOT NULL,
        sequence INTEGER NOT NULL,
        created_at REAL NOT NULL,
        description TEXT NOT NULL,
        embed_text TEXT NOT NULL,
        embedding BLOB NOT NULL,
        status TEXT NOT NULL CHECK (status IN ('PENDING', 'ACTIVE', 'DONE', 'FAILED')),
        result_summary TEXT NOT NULL,
        result_embedding BLOB NOT NULL,
        prepared_prompt TEXT NOT NULL,
        antifocus TEXT NOT NULL,
        failure_reason TEXT NOT NULL,
        n_productive INTEGER NOT NULL,
        last_selected INTEGER NOT NULL,
        UNIQUE (session, sequence),
        UNIQUE (session, short_id)
    ) STRICT;
INSERT INTO "task" VALUES('00000001-0000-4000-8000-000000000001',1,'t-0000',1,1000.0,'How old is the rope?','rope age',X'0000803F00000000','PENDING','',X'','','','',0,0);
INSERT INTO "task" VALUES('00000003-0000-4000-8000-000000000003',1,'t-00000',2,1001.0,'Ask the keeper','ask the keeper',X'000000000000803F','DONE','12 years',X'000000000000003F','','','',0,0);
INSERT INTO "task" VALUES('00000008-0000-4000-8000-000000000008',2,'t-0000',1,1003.0,'How old is the rope?','rope age',X'0000803F00000000','PENDING','',X'','','','',0,0);
CREATE TRIGGER terminal_task_is_immutable BEFORE UPDATE ON task
    WHEN old.status IN ('DONE', 'FAILED')
    BEGIN SELECT RAISE(ABORT, 'a terminal task is immutable'); END;
CREATE TRIGGER evidence_is_immutable BEFORE UPDATE OF
        id, session, short_id, sequence, created_at, content, embed_text, embedding, base_strength, kind,
        source_description, address, title, date, date_source, series, edition, period, newest,
        page_fingerprint, content_hash, span_start, span_end, place, domain, origin_id
    ON evidence
    BEGIN SELECT RAISE(ABORT, 'of evidence only strength and superseded change'); END;
COMMIT;
