CREATE TABLE `console_admins` (
	`operator_id` text PRIMARY KEY NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`operator_id`) REFERENCES `gate_identities`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE TABLE `console_invitations` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`email` text NOT NULL,
	`role` text NOT NULL,
	`token_hash` text NOT NULL,
	`invited_by` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE UNIQUE INDEX `console_invitations_token_hash_unique` ON `console_invitations` (`token_hash`);

CREATE UNIQUE INDEX `console_invitations_by_email` ON `console_invitations` (`tenant_id`,`email`);

CREATE INDEX `console_invitations_by_expiry` ON `console_invitations` (`expires_at`);

CREATE TABLE `console_links` (
	`token_hash` text PRIMARY KEY NOT NULL,
	`operator_id` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`operator_id`) REFERENCES `gate_identities`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE INDEX `console_links_by_operator` ON `console_links` (`operator_id`);

CREATE INDEX `console_links_by_expiry` ON `console_links` (`expires_at`);

CREATE TABLE `console_memberships` (
	`tenant_id` text NOT NULL,
	`operator_id` text NOT NULL,
	`role` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`operator_id`, `tenant_id`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`operator_id`) REFERENCES `gate_identities`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE INDEX `console_memberships_by_tenant` ON `console_memberships` (`tenant_id`,`created_at`);

CREATE TABLE `console_places` (
	`session_id` text PRIMARY KEY NOT NULL,
	`tenant_id` text,
	FOREIGN KEY (`session_id`) REFERENCES `gate_sessions`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE INDEX `console_places_by_tenant` ON `console_places` (`tenant_id`);

CREATE TABLE `clockwork_hours` (
	`tenant_id` text NOT NULL,
	`hour` integer NOT NULL,
	`succeeded` integer NOT NULL,
	`failed` integer NOT NULL,
	PRIMARY KEY(`tenant_id`, `hour`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE INDEX `clockwork_hours_by_time` ON `clockwork_hours` (`hour`);

DROP INDEX `deliveries_waiting_by_endpoint`;

CREATE INDEX `deliveries_waiting_by_endpoint` ON `deliveries` (`endpoint_id`,`due_at`) WHERE state = 'waiting';

DROP INDEX `executions_by_job`;

CREATE INDEX `executions_by_tenant` ON `executions` (`tenant_id`,`seq`);

CREATE INDEX `executions_by_job` ON `executions` (`tenant_id`,`job_id`,`seq`);

CREATE INDEX `audit_log_by_object` ON `audit_log` (`tenant_id`,`object`,`seq`);

CREATE INDEX `tenants_by_name` ON `tenants` (lower("name"),`id`);

CREATE INDEX `cron_jobs_next` ON `cron_jobs` (`tenant_id`,`next_run_at`) WHERE is_active = 1;

CREATE INDEX `passepartout_attempts_in_state` ON `passepartout_attempts` (`tenant_id`,`environment`,`state`);

CREATE INDEX `passepartout_people_newest` ON `passepartout_people` (`tenant_id`,`platform`,`id`);

CREATE INDEX `passepartout_people_by_username` ON `passepartout_people` (`tenant_id`,`platform`,`username`);

-- Made of a database that was nearly empty: SQLite plans better without.
DROP TABLE IF EXISTS `sqlite_stat1`;
