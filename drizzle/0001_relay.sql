CREATE TABLE `master_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`created_at` integer NOT NULL
) STRICT;

CREATE TABLE `attempts` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`delivery_seq` integer NOT NULL,
	`run` integer NOT NULL,
	`number` integer NOT NULL,
	`trigger` text NOT NULL,
	`status` text NOT NULL,
	`started_at` integer NOT NULL,
	`duration_ms` integer NOT NULL,
	`url` text,
	`request_headers` text,
	`address` text,
	`timings` text,
	`response_status` integer,
	`response_headers` text,
	`response_body` text,
	`error_code` text,
	`error_message` text,
	`next_attempt_at` integer,
	FOREIGN KEY (`delivery_seq`) REFERENCES `deliveries`(`seq`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE INDEX `attempts_by_delivery` ON `attempts` (`delivery_seq`,`seq`);

CREATE TABLE `deliveries` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`stream` text NOT NULL,
	`message_seq` integer NOT NULL,
	`endpoint_id` text NOT NULL,
	`format` text NOT NULL,
	`state` text NOT NULL,
	`line` integer NOT NULL,
	`run` integer NOT NULL,
	`attempts` integer NOT NULL,
	`tries` integer NOT NULL,
	`trigger` text NOT NULL,
	`due_at` integer NOT NULL,
	`resume_at` integer,
	`wanted` text,
	`lease_owner` text,
	`lease_until` integer,
	`attempt_id` text,
	`started_at` integer,
	`created_at` integer NOT NULL,
	`succeeded_at` integer,
	`ended_at` integer,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`message_seq`) REFERENCES `messages`(`seq`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "deliveries_state" CHECK("deliveries"."state" in ('waiting', 'ready', 'leased', 'held', 'succeeded', 'failed', 'cancelled'))
) STRICT;

CREATE UNIQUE INDEX `deliveries_id_unique` ON `deliveries` (`id`);

CREATE UNIQUE INDEX `deliveries_by_message` ON `deliveries` (`message_seq`,`endpoint_id`);

CREATE INDEX `deliveries_by_endpoint` ON `deliveries` (`endpoint_id`,`seq`);

CREATE INDEX `deliveries_by_stream` ON `deliveries` (`tenant_id`,`stream`,`seq`);

CREATE INDEX `deliveries_waiting` ON `deliveries` (`line`,`due_at`) WHERE state = 'waiting';

CREATE INDEX `deliveries_waiting_by_endpoint` ON `deliveries` (`endpoint_id`) WHERE state = 'waiting';

CREATE INDEX `deliveries_ready` ON `deliveries` (`line`,`tenant_id`,`endpoint_id`,`due_at`,`seq`) WHERE state = 'ready';

CREATE INDEX `deliveries_leased` ON `deliveries` (`endpoint_id`) WHERE state = 'leased';

CREATE INDEX `deliveries_held` ON `deliveries` (`endpoint_id`,`due_at`,`seq`) WHERE state = 'held';

CREATE INDEX `deliveries_failed` ON `deliveries` (`tenant_id`,`stream`,`seq`) WHERE state = 'failed';

CREATE TABLE `endpoint_filters` (
	`endpoint_id` text NOT NULL,
	`after_seq` integer NOT NULL,
	`event_types` text,
	`channels` text NOT NULL,
	PRIMARY KEY(`endpoint_id`, `after_seq`),
	FOREIGN KEY (`endpoint_id`) REFERENCES `endpoints`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE TABLE `endpoint_health` (
	`endpoint_id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`failures` integer NOT NULL,
	`open_until` integer,
	`trips` integer NOT NULL,
	`window` integer,
	`failing_since` integer,
	`failed_attempts` integer NOT NULL,
	`is_releasing` integer NOT NULL,
	FOREIGN KEY (`endpoint_id`) REFERENCES `endpoints`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE INDEX `endpoint_health_open` ON `endpoint_health` (`open_until`) WHERE open_until is not null;

CREATE INDEX `endpoint_health_releasing` ON `endpoint_health` (`endpoint_id`) WHERE is_releasing = 1;

CREATE TABLE `endpoint_hours` (
	`endpoint_id` text NOT NULL,
	`hour` integer NOT NULL,
	`succeeded` integer NOT NULL,
	`failed` integer NOT NULL,
	`exhausted` integer NOT NULL,
	`cancelled` integer NOT NULL,
	`duration_ms` integer NOT NULL,
	`slowest_ms` integer NOT NULL,
	`up_to_100` integer NOT NULL,
	`up_to_300` integer NOT NULL,
	`up_to_1000` integer NOT NULL,
	`up_to_3000` integer NOT NULL,
	PRIMARY KEY(`endpoint_id`, `hour`)
) STRICT;

CREATE INDEX `endpoint_hours_by_time` ON `endpoint_hours` (`hour`);

CREATE TABLE `endpoints` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`stream` text NOT NULL,
	`url` text NOT NULL,
	`description` text NOT NULL,
	`event_types` text,
	`channels` text NOT NULL,
	`format` text NOT NULL,
	`headers` text NOT NULL,
	`secrets` text NOT NULL,
	`is_active` integer NOT NULL,
	`disabled_reason` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`deleted_at` integer,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE UNIQUE INDEX `endpoints_id_unique` ON `endpoints` (`id`);

CREATE INDEX `endpoints_by_stream` ON `endpoints` (`tenant_id`,`stream`,`seq`);

CREATE INDEX `endpoints_deleted` ON `endpoints` (`deleted_at`) WHERE deleted_at is not null;

CREATE TABLE `messages` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`stream` text NOT NULL,
	`type` text NOT NULL,
	`channels` text,
	`payload` text NOT NULL,
	`idempotency_key` text,
	`accepted_at` integer NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE UNIQUE INDEX `messages_id_unique` ON `messages` (`id`);

CREATE INDEX `messages_by_stream` ON `messages` (`tenant_id`,`stream`,`seq`);

CREATE INDEX `messages_by_type` ON `messages` (`tenant_id`,`stream`,`type`,`seq`);

CREATE INDEX `messages_by_time` ON `messages` (`accepted_at`);

CREATE TABLE `relay_event_types` (
	`tenant_id` text NOT NULL,
	`environment` text NOT NULL,
	`name` text NOT NULL,
	`first_seen_at` integer NOT NULL,
	`last_seen_at` integer NOT NULL,
	`count` integer NOT NULL,
	`sample` text,
	`shape` text NOT NULL,
	`drift` text NOT NULL,
	PRIMARY KEY(`tenant_id`, `environment`, `name`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE INDEX `relay_event_types_by_time` ON `relay_event_types` (`last_seen_at`);

CREATE TABLE `relay_idempotency_keys` (
	`tenant_id` text NOT NULL,
	`environment` text NOT NULL,
	`key` text NOT NULL,
	`message_id` text NOT NULL,
	`event_type` text NOT NULL,
	`accepted_at` integer NOT NULL,
	`digest` text NOT NULL,
	`expires_at` integer NOT NULL,
	PRIMARY KEY(`tenant_id`, `environment`, `key`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE INDEX `relay_idempotency_keys_expired` ON `relay_idempotency_keys` (`expires_at`);
