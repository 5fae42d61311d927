BEGIN TRANSACTION;
CREATE TABLE application_versions (
    version_id TEXT NOT NULL PRIMARY KEY,
    version_name TEXT NOT NULL UNIQUE,
    version_timestamp INTEGER NOT NULL DEFAULT (strftime('%s','now') * 1000),
    created_at INTEGER NOT NULL DEFAULT (strftime('%s','now') * 1000)
, "application_name" TEXT DEFAULT NULL);
INSERT INTO "application_versions" VALUES('73247b4a-5bbf-4160-81a2-4fad1e1cebb5','toolmd-1',1795237894000,1795237894000,'toolmd');
CREATE TABLE dbos_migrations (version INTEGER NOT NULL PRIMARY KEY);
INSERT INTO "dbos_migrations" VALUES(125);
CREATE TABLE notifications (
    message_uuid TEXT NOT NULL DEFAULT (hex(randomblob(16))) PRIMARY KEY,
    destination_uuid TEXT NOT NULL,
    topic TEXT,
    message TEXT NOT NULL,
    created_at_epoch_ms INTEGER NOT NULL DEFAULT (strftime('%s','now') * 1000), "serialization" TEXT DEFAULT NULL, "consumed" BOOLEAN NOT NULL DEFAULT FALSE, consumed_by_function_id INTEGER,
    FOREIGN KEY (destination_uuid) REFERENCES workflow_status(workflow_uuid) 
        ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE TABLE "operation_outputs" (
    workflow_uuid TEXT NOT NULL,
    function_id INTEGER NOT NULL,
    function_name TEXT NOT NULL DEFAULT '',
    output TEXT,
    error TEXT,
    child_workflow_id TEXT,
    started_at_epoch_ms INTEGER,
    completed_at_epoch_ms INTEGER,
    serialization TEXT,
    application_name TEXT DEFAULT NULL,
    retention_timestamp INTEGER NOT NULL DEFAULT (strftime('%s','now') * 1000),
    PRIMARY KEY (workflow_uuid, function_id)
);
INSERT INTO "operation_outputs" VALUES('run-1:0',1,'1:act','{"value": {"outcome": "ok", "data": {"line": "did begin by first"}, "code": "", "message": "", "held": null}, "at": "2026-11-21T05:11:35.212606+00:00"}',NULL,NULL,1795237895100,1795237895213,'toolmd_json','toolmd',1795237895000);
INSERT INTO "operation_outputs" VALUES('run-1:0',2,'toolmd.play',NULL,NULL,'run-1:1',1795237895229,1795237895231,NULL,'toolmd',1795237895000);
INSERT INTO "operation_outputs" VALUES('run-cut:0',1,'1:act','{"value": {"outcome": "ok", "data": {"line": "did begin by first"}, "code": "", "message": "", "held": null}, "at": "2026-11-21T05:11:37.566809+00:00"}',NULL,NULL,1795237897484,1795237897566,'toolmd_json','toolmd',1795237897000);
INSERT INTO "operation_outputs" VALUES('run-cut:0',2,'toolmd.play',NULL,NULL,'run-cut:1',1795237897581,1795237897589,NULL,'toolmd',1795237897000);
CREATE TABLE queues (
    queue_id TEXT PRIMARY KEY DEFAULT (hex(randomblob(16))),
    name TEXT NOT NULL UNIQUE,
    concurrency INTEGER,
    worker_concurrency INTEGER,
    rate_limit_max INTEGER,
    rate_limit_period_sec REAL,
    priority_enabled BOOLEAN NOT NULL DEFAULT FALSE,
    partition_queue BOOLEAN NOT NULL DEFAULT FALSE,
    polling_interval_sec REAL NOT NULL DEFAULT 1.0,
    created_at INTEGER NOT NULL DEFAULT (strftime('%s','now') * 1000),
    updated_at INTEGER NOT NULL DEFAULT (strftime('%s','now') * 1000)
, "application_name" TEXT DEFAULT NULL, "partition_concurrency" INTEGER DEFAULT NULL, "partition_worker_concurrency" INTEGER DEFAULT NULL, "partition_rate_limit_max" INTEGER DEFAULT NULL, "partition_rate_limit_period_sec" REAL DEFAULT NULL);
INSERT INTO "queues" VALUES('BC353A3BC0A18080CE2829F40FC41F33','toolmd-runs',NULL,64,NULL,NULL,1,0,0.2,1795237894000,1795237897413,'toolmd',NULL,NULL,NULL,NULL);
CREATE TABLE streams (
    workflow_uuid TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    "offset" INTEGER NOT NULL, function_id INTEGER NOT NULL DEFAULT 0, "serialization" TEXT DEFAULT NULL,
    PRIMARY KEY (workflow_uuid, key, "offset"),
    FOREIGN KEY (workflow_uuid) REFERENCES workflow_status(workflow_uuid) 
        ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE TABLE toolmd_code (
	hash TEXT NOT NULL, 
	data BLOB NOT NULL, 
	PRIMARY KEY (hash)
);
INSERT INTO "toolmd_code" VALUES('34c19bee3e0bc16094990f3a045fcda130f7900573dacf9610287304dcca9995',X'789C358E310EC2300C45779FE2CB538BA007E8C0C40C124B07C4109A1422D1A44A5C4555D5BBD350F060C97E4FDF66E6265831D03E39A49712D8B80ECE54CC4CD405DFA34A3EE808DB0F3E089ACBF5F4DB0FEFF169DD1F9CBD9848442A4EAE85361D542B45CEAC1125ECB1DBC365A7DED4128723B46DE5F6A56BBBD784B5829131B8CDAD527EAFE878CE7717CC396FC163C2BC71A77AB370491F5BB74353');
INSERT INTO "toolmd_code" VALUES('83abb57c4f90ad1adb1ecaf75d2f9bb3aaec6d37461b2f741bab66db49653bf1',X'789C5550C14EC52010BCF3159B3D41ACF5DE44E3CD9BF1AEA6C176FB4AA4D0C0F63D8DF1DF85F2DAC6BDC032B333CB20E2933913F048E03C53AC11518821F80966CDA3351F60A6D9078697D45E11F6DE4E7D3D7AFF19373837E96A85109DD531C273966B04A4EA6980B635CE70DBCA4876A82078CFCDAAA9E0F621911D156EAE4CA99D9E08EE01071322E37F2C4F272C1F6277B804C37495B726E941E4B0AAF7A6E3D7D454F9E5FDF0B9181E411E8A77802504FE6254B59FC949D4A840C792CE319AAB708B6D36841BC037876A2705E22538F8C18C62B36EF59B027ADCC3CA7B9734DB40D12FA1A328039D4C5AF43BAD4BCCC69DA22AC61B50970B85F6ACED42728DBA2A89CB6D66FD9252E20FF0FF988F');
INSERT INTO "toolmd_code" VALUES('47f0acedce0db01d6a2e5addda5faa57e01ab6939ba1cb7a68bfb7a6e21cb061',X'789C358EB10EC2300C44F77CC5C9538BA01FD081891924960E88A1342944A24E95388AAAAAFF4E43C183A5F33DDD99881A6FC540BBC448AF5660C32AD85444A454EFDD802A39AF03EC303A2F682ED7D3EF3EBEE3D3F2DF383B314129D586893B68D323B276450EAD11C4EFB1DB8333546F6C89C311DA7672FBBAEBBAD70AEB7823D1F3C65629FF57F41479CED50BE69CB8E03161DE086E07B350A93E3F0044B4');
INSERT INTO "toolmd_code" VALUES('7c269d3a5cdac2b85a03efd6df882988093f6ddf7e9de9abf49083dd48f230ef',X'789C5352520AC9485528CF2F4AD1535252E2E20AF70F7251B055504AC94C51E2020074BF0744');
CREATE TABLE toolmd_meta (
	"key" TEXT NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY ("key")
);
INSERT INTO "toolmd_meta" VALUES('version','1');
CREATE TABLE toolmd_pin (
	hash TEXT NOT NULL, 
	manifest TEXT NOT NULL, 
	kept DOUBLE NOT NULL, 
	PRIMARY KEY (hash)
);
INSERT INTO "toolmd_pin" VALUES('22922d1ee254c8b9e2bd54b9566c6b756cb6b3e6fe3d247df4587f2de63eceda','{"folders": [{"files": {"act.py": "34c19bee3e0bc16094990f3a045fcda130f7900573dacf9610287304dcca9995", "plugin.py": "83abb57c4f90ad1adb1ecaf75d2f9bb3aaec6d37461b2f741bab66db49653bf1", "undo.py": "47f0acedce0db01d6a2e5addda5faa57e01ab6939ba1cb7a68bfb7a6e21cb061", "words.py": "7c269d3a5cdac2b85a03efd6df882988093f6ddf7e9de9abf49083dd48f230ef"}, "root": "tools_md", "shown": "tools_md"}], "packages": {}}',1.79523789475255060197e+09);
CREATE TABLE toolmd_plan (
	hash TEXT NOT NULL, 
	"plan" TEXT NOT NULL, 
	PRIMARY KEY (hash)
);
INSERT INTO "toolmd_plan" VALUES('7c6db7d98aba21bbb7e3504bfcdd8b7e4b0d7d02215a70da3b2995c7303469dd','{"skill":{"name":"job","title":"Job","description":"A job.","notes":"","when_to_use":"","version":"1.0.0","category":"test","tags":[],"parameters":[],"sections":{},"extra":{},"source":["skills_md/job.skill.md",1],"required_tools":["act","undo"],"required_skills":[],"patient_from":null,"durable":true,"output":{"success":"Whether it worked","message":"What happened","data":"The line","error":"What went wrong"},"workflow":"","workflow_sections":[{"name":"","steps":[{"id":"1","title":"Begin","text":"","line":14,"when":null,"for_each":null,"ask":null,"if_no":null,"use":{"name":"act","arguments":[{"name":"what","value":{"parts":["begin"],"code":false},"line":17}]},"choose":null,"or_else":null,"returns":null,"message":null,"stop":null,"save_as":null,"if_empty":null,"check":null,"on_error":null,"undo":{"name":"undo","arguments":[{"name":"what","value":{"parts":["begin"],"code":false},"line":19}]},"timeout_s":null},{"id":"2","title":"Agree","text":"","line":21,"when":null,"for_each":null,"ask":{"parts":["Go on?"],"code":false},"if_no":null,"use":null,"choose":null,"or_else":null,"returns":null,"message":null,"stop":null,"save_as":null,"if_empty":null,"check":null,"on_error":null,"undo":null,"timeout_s":null},{"id":"3","title":"Act","text":"","line":24,"when":null,"for_each":null,"ask":null,"if_no":null,"use":{"name":"act","arguments":[{"name":"what","value":{"parts":["end"],"code":false},"line":27}]},"choose":null,"or_else":null,"returns":null,"message":null,"stop":null,"save_as":"acted","if_empty":null,"check":null,"on_error":null,"undo":null,"timeout_s":null},{"id":"4","title":"Return","text":"","line":30,"when":null,"for_each":null,"ask":null,"if_no":null,"use":null,"choose":null,"or_else":null,"returns":[{"name":"line","value":{"parts":[{"cel":"acted.line","line":31,"column":13}],"code":true},"line":31}],"message":null,"stop":null,"save_as":null,"if_empty":null,"check":null,"on_error":null,"undo":null,"timeout_s":null}],"line":0}]},"skills":{},"tools":{"act":{"name":"act","title":"Act","description":"Do it.","notes":"","when_to_use":"","version":"1.0.0","category":"test","tags":[],"parameters":[{"name":"what","shape":{"types":["string"],"description":"What to do","enum":null,"has_default":false,"default":null,"items":null,"properties":null,"values":null,"minimum":null,"maximum":null,"min_length":null,"max_length":null,"pattern":null,"format":null,"min_items":null,"max_items":null,"unique":false,"unit":null,"has_example":false,"example":null,"sensitive":false,"verbatim":false},"required":true}],"sections":{},"extra":{},"source":["tools_md/act.tool.md",1],"requires_auth":false,"requires_patient_context":false,"read_only":false,"idempotent":"keyed","unknown_parameters":"reject","returns":{"types":["object"],"description":"What was done","enum":null,"has_default":false,"default":null,"items":null,"properties":null,"values":null,"minimum":null,"maximum":null,"min_length":null,"max_length":null,"pattern":null,"format":null,"min_items":null,"max_items":null,"unique":false,"unit":null,"has_example":false,"example":null,"sensitive":false,"verbatim":false},"rules":[],"safety":{"min_confidence":null,"requires_confirmation":null,"confirm_when":null,"sensitivity":null,"explicit_intent":null,"intent_keywords":[],"escalate_when":null},"limits":{"timeout_s":null,"retries":null,"backoff_s":null,"rate":null,"max_rows":null,"max_bytes":null,"max_batch":null,"max_calls":null,"max_concurrent":null,"allowed_domains":[]},"examples":[]},"undo":{"name":"undo","title":"Undo","description":"Do it.","notes":"","when_to_use":"","version":"1.0.0","category":"test","tags":[],"parameters":[{"name":"what","shape":{"types":["string"],"description":"What to do","enum":null,"has_default":false,"default":null,"items":null,"properties":null,"values":null,"minimum":null,"maximum":null,"min_length":null,"max_length":null,"pattern":null,"format":null,"min_items":null,"max_items":null,"unique":false,"unit":null,"has_example":false,"example":null,"sensitive":false,"verbatim":false},"required":true}],"sections":{},"extra":{},"source":["tools_md/undo.tool.md",1],"requires_auth":false,"requires_patient_context":false,"read_only":false,"idempotent":"keyed","unknown_parameters":"reject","returns":{"types":["object"],"description":"What was done","enum":null,"has_default":false,"default":null,"items":null,"properties":null,"values":null,"minimum":null,"maximum":null,"min_length":null,"max_length":null,"pattern":null,"format":null,"min_items":null,"max_items":null,"unique":false,"unit":null,"has_example":false,"example":null,"sensitive":false,"verbatim":false},"rules":[],"safety":{"min_confidence":null,"requires_confirmation":null,"confirm_when":null,"sensitivity":null,"explicit_intent":null,"intent_keywords":[],"escalate_when":null},"limits":{"timeout_s":null,"retries":null,"backoff_s":null,"rate":null,"max_rows":null,"max_bytes":null,"max_batch":null,"max_calls":null,"max_concurrent":null,"allowed_domains":[]},"examples":[]}},"python":[],"code":"22922d1ee254c8b9e2bd54b9566c6b756cb6b3e6fe3d247df4587f2de63eceda","given":[]}');
CREATE TABLE toolmd_question (
	run TEXT NOT NULL, 
	"key" TEXT NOT NULL, 
	question TEXT NOT NULL, 
	opened DOUBLE NOT NULL, 
	expires DOUBLE, 
	answer TEXT, 
	answered TEXT, 
	woke DOUBLE, 
	PRIMARY KEY (run, "key")
);
INSERT INTO "toolmd_question" VALUES('run-1','2:ask','{"run_id": "run-1", "key": "2:ask", "skill": "job", "step": "Agree", "prompt": "Go on?", "tool": null, "arguments": null, "sensitivity": "low", "timeout_s": null, "saves": null}',1.79523789521897292136e+09,NULL,NULL,NULL,NULL);
INSERT INTO "toolmd_question" VALUES('run-cut','2:ask','{"run_id": "run-cut", "key": "2:ask", "skill": "job", "step": "Agree", "prompt": "Go on?", "tool": null, "arguments": null, "sensitivity": "low", "timeout_s": null, "saves": null}',1.7952378975783550739e+09,NULL,'{"approved": true, "text": null, "arguments": null, "by": null, "late": false}','2026-11-21T05:11:37.642077+00:00',1.79523789764258742329e+09);
CREATE TABLE toolmd_run (
	id TEXT NOT NULL, 
	skill TEXT NOT NULL, 
	"plan" TEXT NOT NULL, 
	inputs TEXT NOT NULL, 
	caller TEXT NOT NULL, 
	confidence DOUBLE, 
	began TEXT NOT NULL, 
	segment INTEGER NOT NULL, 
	parked DOUBLE NOT NULL, 
	held INTEGER NOT NULL, 
	attempts INTEGER NOT NULL, 
	stuck INTEGER NOT NULL, 
	cancelled INTEGER NOT NULL, 
	ended TEXT, 
	result TEXT, 
	PRIMARY KEY (id)
);
INSERT INTO "toolmd_run" VALUES('run-1','job','7c6db7d98aba21bbb7e3504bfcdd8b7e4b0d7d02215a70da3b2995c7303469dd','{}','{"user": null, "patient": null, "message": "", "conversation": null}',NULL,'2026-11-21T05:11:34.981474+00:00',1,1.7952378952189705372e+09,0,0,0,0,NULL,NULL);
INSERT INTO "toolmd_run" VALUES('run-cut','job','7c6db7d98aba21bbb7e3504bfcdd8b7e4b0d7d02215a70da3b2995c7303469dd','{}','{"user": null, "patient": null, "message": "", "conversation": null}',NULL,'2026-11-21T05:11:37.436871+00:00',1,0.0,1,1,0,0,NULL,NULL);
CREATE TABLE toolmd_worker (
	id TEXT NOT NULL, 
	beat DOUBLE NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE workflow_events (
    workflow_uuid TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL, "serialization" TEXT DEFAULT NULL,
    PRIMARY KEY (workflow_uuid, key),
    FOREIGN KEY (workflow_uuid) REFERENCES workflow_status(workflow_uuid) 
        ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE TABLE workflow_events_history (
    workflow_uuid TEXT NOT NULL,
    function_id INTEGER NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL, "serialization" TEXT DEFAULT NULL,
    PRIMARY KEY (workflow_uuid, function_id, key),
    FOREIGN KEY (workflow_uuid) REFERENCES workflow_status(workflow_uuid)
        ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE TABLE workflow_input (
    workflow_uuid TEXT NOT NULL PRIMARY KEY,
    inputs TEXT,
    retention_timestamp INTEGER NOT NULL DEFAULT (strftime('%s','now') * 1000)
);
INSERT INTO "workflow_input" VALUES('run-1:0','{"args": ["run-1", 0], "kwargs": {}}',1795237895000);
INSERT INTO "workflow_input" VALUES('run-1:1','{"args": ["run-1", 1], "kwargs": {}}',1795237895000);
INSERT INTO "workflow_input" VALUES('run-cut:0','{"args": ["run-cut", 0], "kwargs": {}}',1795237897000);
INSERT INTO "workflow_input" VALUES('run-cut:1','{"args": ["run-cut", 1], "kwargs": {}}',1795237897000);
CREATE TABLE workflow_output (
    workflow_uuid TEXT NOT NULL PRIMARY KEY,
    output TEXT,
    error TEXT,
    retention_timestamp INTEGER NOT NULL DEFAULT (strftime('%s','now') * 1000)
);
INSERT INTO "workflow_output" VALUES('run-1:0','"waiting"',NULL,1795237895000);
INSERT INTO "workflow_output" VALUES('run-cut:0','"waiting"',NULL,1795237897000);
CREATE TABLE workflow_schedules (
    schedule_id TEXT PRIMARY KEY,
    schedule_name TEXT NOT NULL UNIQUE,
    workflow_name TEXT NOT NULL,
    workflow_class_name TEXT,
    schedule TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'ACTIVE',
    context TEXT NOT NULL
, "last_fired_at" TEXT DEFAULT NULL, "automatic_backfill" BOOLEAN NOT NULL DEFAULT FALSE, "cron_timezone" TEXT DEFAULT NULL, "queue_name" TEXT DEFAULT NULL, "application_name" TEXT DEFAULT NULL);
CREATE TABLE workflow_status (
    workflow_uuid TEXT PRIMARY KEY,
    status TEXT,
    name TEXT,
    authenticated_user TEXT,
    assumed_role TEXT,
    authenticated_roles TEXT,
    request TEXT,
    output TEXT,
    error TEXT,
    executor_id TEXT,
    created_at INTEGER NOT NULL DEFAULT (strftime('%s','now') * 1000),
    updated_at INTEGER NOT NULL DEFAULT (strftime('%s','now') * 1000),
    application_version TEXT,
    application_id TEXT,
    class_name TEXT DEFAULT NULL,
    config_name TEXT DEFAULT NULL,
    recovery_attempts INTEGER DEFAULT 0,
    queue_name TEXT,
    workflow_timeout_ms INTEGER,
    workflow_deadline_epoch_ms INTEGER,
    inputs TEXT,
    started_at_epoch_ms INTEGER,
    deduplication_id TEXT,
    priority INTEGER NOT NULL DEFAULT 0
, queue_partition_key TEXT, forked_from TEXT, "owner_xid" TEXT DEFAULT NULL, "parent_workflow_id" TEXT DEFAULT NULL, "serialization" TEXT DEFAULT NULL, "delay_until_epoch_ms" BIGINT DEFAULT NULL, "was_forked_from" BOOLEAN NOT NULL DEFAULT FALSE, "rate_limited" BOOLEAN NOT NULL DEFAULT FALSE, "completed_at" BIGINT, "attributes" TEXT, "schedule_name" TEXT, "debounce_deadline_epoch_ms" BIGINT DEFAULT NULL, "is_debounced" BOOLEAN NOT NULL DEFAULT FALSE, "application_name" TEXT DEFAULT NULL, "creator_xid" TEXT DEFAULT NULL);
INSERT INTO "workflow_status" VALUES('run-1:0','SUCCESS','toolmd.play',NULL,NULL,NULL,NULL,NULL,NULL,'a-process-of-before',1795237895000,1795237895000,'toolmd-1','',NULL,NULL,1,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,'toolmd_json',NULL,0,0,1795237895000,'null',NULL,NULL,0,'toolmd','ac2af162-470d-4226-b087-e021add814b6');
INSERT INTO "workflow_status" VALUES('run-1:1','DELAYED','toolmd.play',NULL,NULL,NULL,NULL,NULL,NULL,'a-process-of-before',1795237895000,1795237895000,'toolmd-1','',NULL,NULL,0,'toolmd-runs',NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,'run-1:0','toolmd_json',2110597895228,0,0,NULL,'null',NULL,NULL,0,'toolmd','bef64b01-8530-44f8-844f-63841e89ea87');
INSERT INTO "workflow_status" VALUES('run-cut:0','SUCCESS','toolmd.play',NULL,NULL,NULL,NULL,NULL,NULL,'a-process-of-before',1795237897000,1795237897000,'toolmd-1','',NULL,NULL,1,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,'toolmd_json',NULL,0,0,1795237897000,'null',NULL,NULL,0,'toolmd','b0cc9180-fb51-40a5-ae61-c88f7a5274b9');
INSERT INTO "workflow_status" VALUES('run-cut:1','PENDING','toolmd.play',NULL,NULL,NULL,NULL,NULL,NULL,'a-process-of-before',1795237897000,1795237897000,'toolmd-1','',NULL,NULL,1,'toolmd-runs',NULL,NULL,NULL,1795237897000,NULL,0,NULL,NULL,'38944abb-c380-43e3-b500-dc6ce72034df','run-cut:0','toolmd_json',1795237897644,0,0,NULL,'null',NULL,NULL,0,'toolmd','94497031-26a1-41cf-b239-ce97974ebbd4');
CREATE INDEX toolmd_run_going ON toolmd_run (id) WHERE result IS NULL;
CREATE INDEX workflow_status_created_at_index ON workflow_status (created_at);
CREATE INDEX idx_workflow_topic ON notifications (destination_uuid, topic);
CREATE INDEX "idx_workflow_status_delayed" ON "workflow_status" ("delay_until_epoch_ms") WHERE status = 'DELAYED';
CREATE INDEX "idx_workflow_status_forked_from" ON "workflow_status" ("forked_from") WHERE "forked_from" IS NOT NULL;
CREATE INDEX "idx_workflow_status_parent_workflow_id" ON "workflow_status" ("parent_workflow_id") WHERE "parent_workflow_id" IS NOT NULL;
CREATE UNIQUE INDEX "uq_workflow_status_dedup_id" ON "workflow_status" ("queue_name", "deduplication_id") WHERE "deduplication_id" IS NOT NULL;
CREATE INDEX "idx_workflow_status_pending" ON "workflow_status" ("created_at") WHERE "status" = 'PENDING';
CREATE INDEX "idx_workflow_status_failed" ON "workflow_status" ("status", "created_at") WHERE "status" IN ('ERROR', 'CANCELLED', 'MAX_RECOVERY_ATTEMPTS_EXCEEDED');
CREATE INDEX "idx_workflow_status_rate_limited" ON "workflow_status" ("queue_name", "started_at_epoch_ms") WHERE "rate_limited" = TRUE;
CREATE INDEX "idx_workflow_status_completed_at" ON "workflow_status" ("completed_at") WHERE "completed_at" IS NOT NULL;
CREATE INDEX "idx_workflow_status_started_at" ON "workflow_status" ("started_at_epoch_ms") WHERE "started_at_epoch_ms" IS NOT NULL;
CREATE INDEX "idx_workflow_status_schedule_name" ON "workflow_status" ("schedule_name") WHERE "schedule_name" IS NOT NULL;
CREATE UNIQUE INDEX "uq_application_versions_owner_version"
    ON application_versions ("application_name", "version_name")
    WHERE "application_name" IS NOT NULL;
CREATE UNIQUE INDEX "uq_application_versions_unclaimed_version"
    ON application_versions ("version_name")
    WHERE "application_name" IS NULL;
CREATE INDEX idx_workflow_input_retention
    ON workflow_input (retention_timestamp);
CREATE INDEX idx_workflow_output_retention
    ON workflow_output (retention_timestamp);
CREATE INDEX idx_operation_outputs_retention
    ON operation_outputs (retention_timestamp);
CREATE INDEX "idx_workflow_status_in_flight_v2" ON "workflow_status" ("queue_name", "status", "priority", "created_at", "application_name") WHERE "status" IN ('ENQUEUED', 'PENDING');
CREATE INDEX "idx_workflow_status_partition_dequeue_v3" ON "workflow_status" ("queue_name", "status", "queue_partition_key", "priority", "created_at", "workflow_uuid", "application_name") WHERE "status" IN ('ENQUEUED', 'PENDING') AND "queue_partition_key" IS NOT NULL;
CREATE INDEX "idx_operation_outputs_completed_at_function_name_v2" ON "operation_outputs" ("completed_at_epoch_ms", "function_name", "application_name");
CREATE INDEX "idx_workflow_status_deadline" ON "workflow_status" ("workflow_deadline_epoch_ms") WHERE "status" IN ('ENQUEUED', 'PENDING', 'DELAYED') AND "workflow_deadline_epoch_ms" IS NOT NULL;
CREATE INDEX "idx_application_versions_timestamp" ON "application_versions" ("version_timestamp" DESC);
CREATE INDEX "idx_application_versions_owner_timestamp" ON "application_versions" ("application_name", "version_timestamp" DESC);
COMMIT;
