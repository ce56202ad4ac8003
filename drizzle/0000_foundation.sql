CREATE TABLE `api_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`engine` text NOT NULL,
	`environment` text,
	`scopes` text NOT NULL,
	`hash` text NOT NULL,
	`hint` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer,
	`expires_at` integer,
	`revoked_at` integer,
	`replaced_by` text,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE UNIQUE INDEX `api_keys_hash_unique` ON `api_keys` (`hash`);

CREATE INDEX `api_keys_by_tenant` ON `api_keys` (`tenant_id`,`created_at`);

CREATE TABLE `audit_log` (
	`seq` integer PRIMARY KEY NOT NULL,
	`at` integer NOT NULL,
	`tenant_id` text,
	`actor_kind` text NOT NULL,
	`actor_id` text,
	`action` text NOT NULL,
	`object` text NOT NULL,
	`source` text,
	`detail` text NOT NULL
) STRICT;

CREATE INDEX `audit_log_by_tenant` ON `audit_log` (`tenant_id`,`seq`);

CREATE INDEX `audit_log_by_time` ON `audit_log` (`at`);

CREATE TABLE `instances` (
	`id` text PRIMARY KEY NOT NULL,
	`host` text NOT NULL,
	`pid` integer NOT NULL,
	`version` text NOT NULL,
	`started_at` integer NOT NULL,
	`heartbeat_at` integer NOT NULL,
	`beat` integer NOT NULL
) STRICT;

CREATE TABLE `tenants` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`plan` text NOT NULL,
	`status` text NOT NULL,
	`spend_cap_cents` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	CONSTRAINT "tenants_plan" CHECK("tenants"."plan" in ('free', 'metered', 'unlimited')),
	CONSTRAINT "tenants_status" CHECK("tenants"."status" in ('active', 'suspended', 'renewal_unpaid'))
) STRICT;

CREATE TABLE `cron_jobs` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`name` text NOT NULL,
	`schedule` text NOT NULL,
	`url` text NOT NULL,
	`method` text NOT NULL,
	`headers` text NOT NULL,
	`body` text,
	`is_active` integer NOT NULL,
	`last_run_at` integer,
	`next_run_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE UNIQUE INDEX `cron_jobs_id_unique` ON `cron_jobs` (`id`);

CREATE INDEX `cron_jobs_by_tenant` ON `cron_jobs` (`tenant_id`,`seq`);

CREATE INDEX `cron_jobs_due` ON `cron_jobs` (`next_run_at`) WHERE is_active = 1;

CREATE TABLE `delayed_jobs` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`name` text NOT NULL,
	`run_at` integer NOT NULL,
	`url` text NOT NULL,
	`method` text NOT NULL,
	`headers` text NOT NULL,
	`body` text,
	`status` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`expires_at` integer,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "delayed_jobs_status" CHECK("delayed_jobs"."status" in ('pending', 'running', 'success', 'failed', 'cancelled'))
) STRICT;

CREATE UNIQUE INDEX `delayed_jobs_id_unique` ON `delayed_jobs` (`id`);

CREATE INDEX `delayed_jobs_by_tenant` ON `delayed_jobs` (`tenant_id`,`run_at`,`seq`);

CREATE INDEX `delayed_jobs_expired` ON `delayed_jobs` (`expires_at`) WHERE expires_at is not null;

CREATE INDEX `delayed_jobs_ended` ON `delayed_jobs` (`tenant_id`,`expires_at`) WHERE expires_at is not null;

CREATE TABLE `executions` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`job_id` text NOT NULL,
	`trigger` text NOT NULL,
	`status` text NOT NULL,
	`attempt` integer NOT NULL,
	`slot_at` integer NOT NULL,
	`lateness_ms` integer NOT NULL,
	`started_at` integer NOT NULL,
	`completed_at` integer,
	`duration_ms` integer,
	`response_status` integer,
	`response_body` text,
	`error_message` text,
	`address` text,
	`timings` text,
	`expires_at` integer,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE UNIQUE INDEX `executions_id_unique` ON `executions` (`id`);

CREATE INDEX `executions_by_job` ON `executions` (`job_id`,`seq`);

CREATE INDEX `executions_expired` ON `executions` (`expires_at`) WHERE expires_at is not null;

CREATE TABLE `job_counts` (
	`tenant_id` text PRIMARY KEY NOT NULL,
	`cron_jobs` integer NOT NULL,
	`delayed_jobs` integer NOT NULL,
	`bytes` integer NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE TABLE `runs` (
	`seq` integer PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`job_kind` text NOT NULL,
	`job_id` text NOT NULL,
	`trigger` text NOT NULL,
	`slot_at` integer NOT NULL,
	`due_at` integer NOT NULL,
	`attempt` integer NOT NULL,
	`state` text NOT NULL,
	`host` text NOT NULL,
	`request` text,
	`lease_owner` text,
	`lease_until` integer,
	`execution_id` text,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE INDEX `runs_waiting` ON `runs` (`due_at`) WHERE state = 'waiting';

CREATE INDEX `runs_ready` ON `runs` (`tenant_id`,`host`,`due_at`,`seq`) WHERE state = 'ready';

CREATE INDEX `runs_leased` ON `runs` (`lease_until`) WHERE state = 'leased';

CREATE INDEX `runs_by_job` ON `runs` (`job_id`);

CREATE UNIQUE INDEX `runs_slot` ON `runs` (`job_id`,`slot_at`) WHERE trigger = 'schedule';

CREATE TABLE `skipped_slots` (
	`job_id` text NOT NULL,
	`day` integer NOT NULL,
	`reason` text NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`job_id`, `day`, `reason`)
) STRICT;

CREATE INDEX `skipped_slots_by_day` ON `skipped_slots` (`day`);
