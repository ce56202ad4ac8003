CREATE TABLE `backups` (
	`id` text PRIMARY KEY NOT NULL,
	`origin` text NOT NULL,
	`owner` text,
	`started_at` integer NOT NULL,
	`ended_at` integer,
	`file` text NOT NULL,
	`bytes` integer,
	`error` text
) STRICT;

CREATE INDEX `backups_by_time` ON `backups` (`started_at`);

CREATE TABLE `fingerprint_keys` (
	`purpose` text PRIMARY KEY NOT NULL,
	`key` text NOT NULL
) STRICT;

CREATE TABLE `imports` (
	`tenant_id` text PRIMARY KEY NOT NULL,
	`file_hash` text NOT NULL,
	`started_at` integer NOT NULL,
	`ended_at` integer
) STRICT;

CREATE TABLE `installation` (
	`id` text PRIMARY KEY NOT NULL,
	`created_at` integer NOT NULL
) STRICT;

CREATE TABLE `usage_days` (
	`tenant_id` text NOT NULL,
	`day` text NOT NULL,
	`engine` text NOT NULL,
	`environment` text NOT NULL,
	`requests` integer NOT NULL,
	PRIMARY KEY(`tenant_id`, `day`, `engine`, `environment`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE INDEX `usage_days_by_day` ON `usage_days` (`day`);

CREATE TABLE `usage_months` (
	`tenant_id` text NOT NULL,
	`month` text NOT NULL,
	`requests` integer NOT NULL,
	`billed` integer NOT NULL,
	`cost_cents` integer NOT NULL,
	`allowance_told` integer NOT NULL,
	`spend_cap_told` integer NOT NULL,
	PRIMARY KEY(`tenant_id`, `month`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE INDEX `usage_months_by_month` ON `usage_months` (`month`);
