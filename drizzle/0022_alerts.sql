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

CREATE TABLE `notices` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`tenant_id` text,
	`channel_id` text NOT NULL,
	`channel_name` text NOT NULL,
	`event` text NOT NULL,
	`kind` text NOT NULL,
	`severity` text NOT NULL,
	`title` text NOT NULL,
	`content` text NOT NULL,
	`state` text NOT NULL,
	`tries` integer NOT NULL,
	`due_at` integer NOT NULL,
	`lease_owner` text,
	`lease_until` integer,
	`attempt_id` text,
	`last_error` text,
	`created_at` integer NOT NULL,
	`ended_at` integer,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE UNIQUE INDEX `notices_id_unique` ON `notices` (`id`);

CREATE INDEX `notices_by_tenant` ON `notices` (`tenant_id`,`seq`);

CREATE INDEX `notices_by_channel` ON `notices` (`tenant_id`,`channel_id`,`created_at`);

CREATE INDEX `notices_by_time` ON `notices` (`created_at`);

CREATE INDEX `notices_waiting` ON `notices` (`due_at`) WHERE state = 'waiting';

CREATE INDEX `notices_ready` ON `notices` (`tenant_id`,`channel_id`,`due_at`,`seq`) WHERE state = 'ready';

CREATE INDEX `notices_leased` ON `notices` (`lease_until`) WHERE state = 'leased';

CREATE TABLE `notification_channels` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`tenant_id` text,
	`name` text NOT NULL,
	`type` text NOT NULL,
	`settings` text NOT NULL,
	`hint` text NOT NULL,
	`kinds` text,
	`min_severity` text NOT NULL,
	`is_active` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`last_at` integer,
	`last_error` text,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE UNIQUE INDEX `notification_channels_id_unique` ON `notification_channels` (`id`);

CREATE INDEX `notification_channels_by_tenant` ON `notification_channels` (`tenant_id`,`seq`);
