CREATE TABLE `passepartout_attempts` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`environment` text NOT NULL,
	`bot_id` text NOT NULL,
	`nonce_hash` text NOT NULL,
	`link_hash` text NOT NULL,
	`state` text NOT NULL,
	`client_ip` text,
	`client_user_agent` text,
	`client_label` text,
	`match_code` text,
	`choices` text,
	`opener_id` text,
	`language` text NOT NULL,
	`prompts` integer NOT NULL,
	`person_id` text,
	`access_token` text,
	`created_at` integer NOT NULL,
	`opened_at` integer,
	`ended_at` integer,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE UNIQUE INDEX `passepartout_attempts_id_unique` ON `passepartout_attempts` (`id`);

CREATE UNIQUE INDEX `passepartout_attempts_nonce_hash_unique` ON `passepartout_attempts` (`nonce_hash`);

CREATE UNIQUE INDEX `passepartout_attempts_link_hash_unique` ON `passepartout_attempts` (`link_hash`);

CREATE INDEX `passepartout_attempts_by_opener` ON `passepartout_attempts` (`bot_id`,`opener_id`,`opened_at`) WHERE opener_id is not null;

CREATE INDEX `passepartout_attempts_by_expiry` ON `passepartout_attempts` (`expires_at`);

CREATE INDEX `passepartout_attempts_to_collect` ON `passepartout_attempts` (`expires_at`) WHERE access_token is not null;

CREATE TABLE `passepartout_bots` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`environment` text NOT NULL,
	`platform` text NOT NULL,
	`platform_bot_id` text,
	`username` text,
	`name` text,
	`token` text,
	`is_enabled` integer NOT NULL,
	`match` text NOT NULL,
	`transport` text NOT NULL,
	`revision` integer NOT NULL,
	`health` text NOT NULL,
	`trouble` text,
	`update_offset` integer,
	`offset_at` integer,
	`lease_owner` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE UNIQUE INDEX `passepartout_bots_by_tenant` ON `passepartout_bots` (`tenant_id`,`environment`);

CREATE UNIQUE INDEX `passepartout_bots_by_platform` ON `passepartout_bots` (`platform`,`platform_bot_id`) WHERE token is not null;

CREATE INDEX `passepartout_bots_receiving` ON `passepartout_bots` (`id`) WHERE is_enabled = 1 and token is not null;

CREATE TABLE `passepartout_people` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`platform` text NOT NULL,
	`platform_user_id` text NOT NULL,
	`username` text,
	`first_name` text NOT NULL,
	`last_name` text,
	`language_code` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE UNIQUE INDEX `passepartout_people_by_account` ON `passepartout_people` (`tenant_id`,`platform`,`platform_user_id`);

CREATE TABLE `passepartout_prompts` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`tenant_id` text NOT NULL,
	`bot_id` text NOT NULL,
	`attempt_id` text NOT NULL,
	`chat_id` text NOT NULL,
	`message_id` text,
	`state` text NOT NULL,
	`tries` integer NOT NULL,
	`due_at` integer NOT NULL,
	`lease_owner` text,
	`lease_until` integer,
	`lease_id` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE INDEX `passepartout_prompts_by_attempt` ON `passepartout_prompts` (`attempt_id`);

CREATE INDEX `passepartout_prompts_waiting` ON `passepartout_prompts` (`due_at`) WHERE state = 'waiting';

CREATE INDEX `passepartout_prompts_ready` ON `passepartout_prompts` (`tenant_id`,`bot_id`,`due_at`,`seq`) WHERE state = 'ready';

CREATE INDEX `passepartout_prompts_leased` ON `passepartout_prompts` (`lease_until`) WHERE state = 'leased';

CREATE TABLE `passepartout_tokens` (
	`seq` integer PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`environment` text NOT NULL,
	`hash` text NOT NULL,
	`person_id` text NOT NULL,
	`issued_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`revoked_at` integer,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE UNIQUE INDEX `passepartout_tokens_hash_unique` ON `passepartout_tokens` (`hash`);

CREATE INDEX `passepartout_tokens_by_person` ON `passepartout_tokens` (`tenant_id`,`person_id`);

CREATE INDEX `passepartout_tokens_by_expiry` ON `passepartout_tokens` (`expires_at`);

CREATE TABLE `passepartout_updates` (
	`bot_id` text NOT NULL,
	`update_id` integer NOT NULL,
	`at` integer NOT NULL,
	PRIMARY KEY(`bot_id`, `update_id`)
) STRICT;

CREATE INDEX `passepartout_updates_by_time` ON `passepartout_updates` (`at`);
