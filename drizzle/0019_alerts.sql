CREATE TABLE `alerts` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`tenant_id` text,
	`kind` text NOT NULL,
	`subject` text NOT NULL,
	`name` text NOT NULL,
	`severity` text NOT NULL,
	`text` text NOT NULL,
	`path` text NOT NULL,
	`state` text NOT NULL,
	`opened_at` integer NOT NULL,
	`last_at` integer NOT NULL,
	`count` integer NOT NULL,
	`resolved_at` integer,
	`closes_after_ms` integer,
	`muted_until` integer,
	`told` text NOT NULL,
	`told_at` integer,
	`due_at` integer,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE UNIQUE INDEX `alerts_id_unique` ON `alerts` (`id`);

CREATE UNIQUE INDEX `alerts_of_subject` ON `alerts` (`tenant_id`,`subject`,`kind`);

CREATE INDEX `alerts_by_state` ON `alerts` (`tenant_id`,`state`,`opened_at`);

CREATE INDEX `alerts_due` ON `alerts` (`due_at`) WHERE due_at is not null;

CREATE INDEX `alerts_resolved` ON `alerts` (`resolved_at`) WHERE resolved_at is not null;
