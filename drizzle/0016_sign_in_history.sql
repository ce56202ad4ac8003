CREATE TABLE `gate_sign_ins` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`tenant_id` text NOT NULL,
	`identity_id` text NOT NULL,
	`at` integer NOT NULL,
	`is_success` integer NOT NULL,
	`method` text NOT NULL,
	`provider` text,
	`reason` text,
	`ip_address` text,
	`user_agent` text,
	FOREIGN KEY (`identity_id`) REFERENCES `gate_identities`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE INDEX `gate_sign_ins_by_identity` ON `gate_sign_ins` (`identity_id`,`seq`);

CREATE INDEX `gate_sign_ins_by_time` ON `gate_sign_ins` (`at`);
