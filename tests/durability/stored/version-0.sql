BEGIN TRANSACTION;
CREATE TABLE application_versions (
    version_id TEXT NOT NULL PRIMARY KEY,
    version_name TEXT NOT NULL UNIQUE,
    version_timestamp INTEGER NOT NULL DEFAULT (strftime('%s','now') * 1000),
    created_at INTEGER NOT NULL DEFAULT (strftime('%s','now') * 1000)
, "application_name" TEXT DEFAULT NULL);
INSERT INTO "application_versions" VALUES('da2e82df-74f1-4883-9f66-a740bd1ccdbc','toolmd-1',1795237719000,1795237719000,'toolmd');
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
INSERT INTO "operation_outputs" VALUES('run-1:0',1,'1:act','{"value": {"outcome": "ok", "data": {"line": "did begin by first"}, "code": "", "message": "", "held": null}, "at": "2026-11-21T05:08:40.310562+00:00"}',NULL,NULL,1795237720096,1795237720310,'toolmd_json','toolmd',1795237720000);
INSERT INTO "operation_outputs" VALUES('run-1:0',2,'toolmd.play',NULL,NULL,'run-1:1',1795237720317,1795237720319,NULL,'toolmd',1795237720000);
INSERT INTO "operation_outputs" VALUES('run-cut:0',1,'1:act','{"value": {"outcome": "ok", "data": {"line": "did begin by first"}, "code": "", "message": "", "held": null}, "at": "2026-11-21T05:08:44.641807+00:00"}',NULL,NULL,1795237724373,1795237724642,'toolmd_json','toolmd',1795237724000);
INSERT INTO "operation_outputs" VALUES('run-cut:0',2,'toolmd.play',NULL,NULL,'run-cut:1',1795237724658,1795237724661,NULL,'toolmd',1795237724000);
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
INSERT INTO "queues" VALUES('1E43DABCCE01E8C083D866CC4476E0B8','toolmd-runs',NULL,NULL,NULL,NULL,1,0,0.2,1795237720000,1795237724244,'toolmd',NULL,NULL,NULL,NULL);
CREATE TABLE streams (
    workflow_uuid TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    "offset" INTEGER NOT NULL, function_id INTEGER NOT NULL DEFAULT 0, "serialization" TEXT DEFAULT NULL,
    PRIMARY KEY (workflow_uuid, key, "offset"),
    FOREIGN KEY (workflow_uuid) REFERENCES workflow_status(workflow_uuid) 
        ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE TABLE toolmd_plan (
	hash TEXT NOT NULL, 
	"plan" TEXT NOT NULL, 
	PRIMARY KEY (hash)
);
INSERT INTO "toolmd_plan" VALUES('ae69be3a79a5f4d010194e394165c1c1613e34be121a1c9ec468493ac6c9b952','{"skill":{"name":"job","title":"Job","description":"A job.","notes":"","when_to_use":"","version":"1.0.0","category":"test","tags":[],"required_tools":["act","undo"],"required_skills":[],"patient_from":null,"durable":true,"parameters":[],"output":{"success":"Whether it worked","message":"What happened","data":"The line","error":"What went wrong"},"workflow":"","workflow_sections":[{"name":"","steps":[{"id":"1","title":"Begin","text":"","line":14,"when":null,"for_each":null,"ask":null,"if_no":null,"use":{"name":"act","arguments":[{"name":"what","value":{"parts":["begin"],"code":false},"line":17}]},"choose":null,"or_else":null,"returns":null,"message":null,"stop":null,"save_as":null,"if_empty":null,"check":null,"on_error":null,"undo":{"name":"undo","arguments":[{"name":"what","value":{"parts":["begin"],"code":false},"line":19}]},"timeout_s":null},{"id":"2","title":"Agree","text":"","line":21,"when":null,"for_each":null,"ask":{"parts":["Go on?"],"code":false},"if_no":null,"use":null,"choose":null,"or_else":null,"returns":null,"message":null,"stop":null,"save_as":null,"if_empty":null,"check":null,"on_error":null,"undo":null,"timeout_s":null},{"id":"3","title":"Act","text":"","line":24,"when":null,"for_each":null,"ask":null,"if_no":null,"use":{"name":"act","arguments":[{"name":"what","value":{"parts":["end"],"code":false},"line":27}]},"choose":null,"or_else":null,"returns":null,"message":null,"stop":null,"save_as":"acted","if_empty":null,"check":null,"on_error":null,"undo":null,"timeout_s":null},{"id":"4","title":"Return","text":"","line":30,"when":null,"for_each":null,"ask":null,"if_no":null,"use":null,"choose":null,"or_else":null,"returns":[{"name":"line","value":{"parts":[{"cel":"acted.line","line":31,"column":13}],"code":true},"line":31}],"message":null,"stop":null,"save_as":null,"if_empty":null,"check":null,"on_error":null,"undo":null,"timeout_s":null}],"line":0}],"sections":{},"extra":{},"source":["skills_md/job.skill.md",1]},"skills":{},"tools":{"act":{"name":"act","title":"Act","description":"Do it.","notes":"","when_to_use":"","version":"1.0.0","category":"test","tags":[],"requires_auth":false,"requires_patient_context":false,"read_only":false,"idempotent":"keyed","unknown_parameters":"reject","parameters":[{"name":"what","shape":{"types":["string"],"description":"What to do","enum":null,"has_default":false,"default":null,"items":null,"properties":null,"values":null,"minimum":null,"maximum":null,"min_length":null,"max_length":null,"pattern":null,"format":null,"min_items":null,"max_items":null,"unique":false,"unit":null,"has_example":false,"example":null,"sensitive":false,"verbatim":false},"required":true}],"returns":{"types":["object"],"description":"What was done","enum":null,"has_default":false,"default":null,"items":null,"properties":null,"values":null,"minimum":null,"maximum":null,"min_length":null,"max_length":null,"pattern":null,"format":null,"min_items":null,"max_items":null,"unique":false,"unit":null,"has_example":false,"example":null,"sensitive":false,"verbatim":false},"rules":[],"safety":{"min_confidence":null,"requires_confirmation":null,"confirm_when":null,"sensitivity":null,"explicit_intent":null,"intent_keywords":[],"escalate_when":null},"limits":{"timeout_s":null,"retries":null,"backoff_s":null,"rate":null,"max_rows":null,"max_bytes":null,"max_batch":null,"max_calls":null,"max_concurrent":null,"allowed_domains":[]},"examples":[],"sections":{},"extra":{},"source":["tools_md/act.tool.md",1]},"undo":{"name":"undo","title":"Undo","description":"Do it.","notes":"","when_to_use":"","version":"1.0.0","category":"test","tags":[],"requires_auth":false,"requires_patient_context":false,"read_only":false,"idempotent":"keyed","unknown_parameters":"reject","parameters":[{"name":"what","shape":{"types":["string"],"description":"What to do","enum":null,"has_default":false,"default":null,"items":null,"properties":null,"values":null,"minimum":null,"maximum":null,"min_length":null,"max_length":null,"pattern":null,"format":null,"min_items":null,"max_items":null,"unique":false,"unit":null,"has_example":false,"example":null,"sensitive":false,"verbatim":false},"required":true}],"returns":{"types":["object"],"description":"What was done","enum":null,"has_default":false,"default":null,"items":null,"properties":null,"values":null,"minimum":null,"maximum":null,"min_length":null,"max_length":null,"pattern":null,"format":null,"min_items":null,"max_items":null,"unique":false,"unit":null,"has_example":false,"example":null,"sensitive":false,"verbatim":false},"rules":[],"safety":{"min_confidence":null,"requires_confirmation":null,"confirm_when":null,"sensitivity":null,"explicit_intent":null,"intent_keywords":[],"escalate_when":null},"limits":{"timeout_s":null,"retries":null,"backoff_s":null,"rate":null,"max_rows":null,"max_bytes":null,"max_batch":null,"max_calls":null,"max_concurrent":null,"allowed_domains":[]},"examples":[],"sections":{},"extra":{},"source":["tools_md/undo.tool.md",1]}},"python":[]}');
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
INSERT INTO "toolmd_question" VALUES('run-1','2:ask','{"run_id": "run-1", "key": "2:ask", "skill": "job", "step": "Agree", "prompt": "Go on?", "tool": null, "arguments": null, "sensitivity": "low", "timeout_s": null}',1.79523772031575393681e+09,NULL,NULL,NULL,NULL);
INSERT INTO "toolmd_question" VALUES('run-cut','2:ask','{"run_id": "run-cut", "key": "2:ask", "skill": "job", "step": "Agree", "prompt": "Go on?", "tool": null, "arguments": null, "sensitivity": "low", "timeout_s": null}',1.7952377246565420628e+09,NULL,'{"approved": true, "text": null, "arguments": null, "by": null, "late": false}','2026-11-21T05:08:44.677951+00:00',1.79523772467827749253e+09);
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
INSERT INTO "toolmd_run" VALUES('run-1','job','ae69be3a79a5f4d010194e394165c1c1613e34be121a1c9ec468493ac6c9b952','{}','{"user": null, "patient": null, "message": "", "conversation": null}',NULL,'2026-11-21T05:08:40.065889+00:00',1,1.79523772031575179096e+09,0,0,0,0,NULL,NULL);
INSERT INTO "toolmd_run" VALUES('run-cut','job','ae69be3a79a5f4d010194e394165c1c1613e34be121a1c9ec468493ac6c9b952','{}','{"user": null, "patient": null, "message": "", "conversation": null}',NULL,'2026-11-21T05:08:44.297065+00:00',1,0.0,1,1,0,0,NULL,NULL);
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
INSERT INTO "workflow_input" VALUES('run-1:0','{"args": ["run-1", 0], "kwargs": {}}',1795237720000);
INSERT INTO "workflow_input" VALUES('run-1:1','{"args": ["run-1", 1], "kwargs": {}}',1795237720000);
INSERT INTO "workflow_input" VALUES('run-cut:0','{"args": ["run-cut", 0], "kwargs": {}}',1795237724000);
INSERT INTO "workflow_input" VALUES('run-cut:1','{"args": ["run-cut", 1], "kwargs": {}}',1795237724000);
CREATE TABLE workflow_output (
    workflow_uuid TEXT NOT NULL PRIMARY KEY,
    output TEXT,
    error TEXT,
    retention_timestamp INTEGER NOT NULL DEFAULT (strftime('%s','now') * 1000)
);
INSERT INTO "workflow_output" VALUES('run-1:0','"waiting"',NULL,1795237720000);
INSERT INTO "workflow_output" VALUES('run-cut:0','"waiting"',NULL,1795237724000);
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
INSERT INTO "workflow_status" VALUES('run-1:0','SUCCESS','toolmd.play',NULL,NULL,NULL,NULL,NULL,NULL,'a-process-of-before',1795237720000,1795237720000,'toolmd-1','',NULL,NULL,1,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,'toolmd_json',NULL,0,0,1795237720000,'null',NULL,NULL,0,'toolmd','a3aa2642-8ed9-4597-bcc3-26b3887fde90');
INSERT INTO "workflow_status" VALUES('run-1:1','DELAYED','toolmd.play',NULL,NULL,NULL,NULL,NULL,NULL,'a-process-of-before',1795237720000,1795237720000,'toolmd-1','',NULL,NULL,0,'toolmd-runs',NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,'run-1:0','toolmd_json',2110597720317,0,0,NULL,'null',NULL,NULL,0,'toolmd','df16465a-2ddb-415c-b8ed-ad7f6db4f494');
INSERT INTO "workflow_status" VALUES('run-cut:0','SUCCESS','toolmd.play',NULL,NULL,NULL,NULL,NULL,NULL,'a-process-of-before',1795237724000,1795237724000,'toolmd-1','',NULL,NULL,1,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,'toolmd_json',NULL,0,0,1795237724000,'null',NULL,NULL,0,'toolmd','69fa1b5d-e0db-4113-975b-524320586526');
INSERT INTO "workflow_status" VALUES('run-cut:1','PENDING','toolmd.play',NULL,NULL,NULL,NULL,NULL,NULL,'a-process-of-before',1795237724000,1795237724000,'toolmd-1','',NULL,NULL,1,'toolmd-runs',NULL,NULL,NULL,1795237724000,NULL,0,NULL,NULL,'9370ad34-c9b5-44e1-9e71-d9f2307b39d4','run-cut:0','toolmd_json',1795237724693,0,0,NULL,'null',NULL,NULL,0,'toolmd','37e014e9-fe09-42f5-92e1-1f424d05680f');
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
