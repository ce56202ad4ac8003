CREATE TABLE `console_checklists` (
	`tenant_id` text PRIMARY KEY NOT NULL,
	`goals` text NOT NULL,
	`dismissed_at` integer,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE TABLE `test_requests` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`tenant_id` text NOT NULL,
	`receiver` text NOT NULL,
	`method` text NOT NULL,
	`headers` text NOT NULL,
	`body` text NOT NULL,
	`body_bytes` integer NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE INDEX `test_requests_by_receiver` ON `test_requests` (`tenant_id`,`receiver`,`seq`);

CREATE INDEX `test_requests_by_time` ON `test_requests` (`created_at`);
