CREATE TABLE `monitor_pings` (
	`tenant_id` text NOT NULL,
	`monitor_id` text NOT NULL,
	`place` integer NOT NULL,
	`number` integer NOT NULL,
	`signal` text NOT NULL,
	`exit_code` integer,
	`rid` text,
	`received_at` integer NOT NULL,
	`duration_ms` integer,
	`body` text,
	`address` text,
	PRIMARY KEY(`tenant_id`, `monitor_id`, `place`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE TABLE `monitor_transitions` (
	`tenant_id` text NOT NULL,
	`monitor_id` text NOT NULL,
	`place` integer NOT NULL,
	`number` integer NOT NULL,
	`from_state` text NOT NULL,
	`to_state` text NOT NULL,
	`at` integer NOT NULL,
	PRIMARY KEY(`tenant_id`, `monitor_id`, `place`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE INDEX `monitor_transitions_by_time` ON `monitor_transitions` (`at`);

CREATE TABLE `monitor_watch` (
	`id` integer PRIMARY KEY NOT NULL,
	`watched_at` integer NOT NULL
) STRICT;

CREATE TABLE `monitors` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`name` text NOT NULL,
	`tags` text NOT NULL,
	`notes` text NOT NULL,
	`token_hash` text NOT NULL,
	`token` text NOT NULL,
	`badge_token` text NOT NULL,
	`period_seconds` integer,
	`schedule` text,
	`time_zone` text NOT NULL,
	`grace_seconds` integer NOT NULL,
	`state` text NOT NULL,
	`state_since` integer NOT NULL,
	`last_ping_at` integer,
	`last_duration_ms` integer,
	`started_at` integer,
	`started_rid` text,
	`expected_at` integer,
	`due_at` integer,
	`ping_count` integer NOT NULL,
	`transition_count` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "monitors_state" CHECK("monitors"."state" in ('new', 'up', 'late', 'down', 'paused')),
	CONSTRAINT "monitors_expectation" CHECK(("monitors"."period_seconds" is null) <> ("monitors"."schedule" is null))
) STRICT;

CREATE UNIQUE INDEX `monitors_id_unique` ON `monitors` (`id`);

CREATE UNIQUE INDEX `monitors_token_hash_unique` ON `monitors` (`token_hash`);

CREATE UNIQUE INDEX `monitors_badge_token_unique` ON `monitors` (`badge_token`);

CREATE INDEX `monitors_by_tenant` ON `monitors` (`tenant_id`,`seq`);

CREATE INDEX `monitors_due` ON `monitors` (`due_at`) WHERE due_at is not null;

DROP INDEX `delayed_jobs_by_tenant`;

CREATE INDEX `delayed_jobs_by_tenant` ON `delayed_jobs` (`tenant_id`,`run_at`,`seq`,`status`);
