CREATE TABLE `gate_test_sign_ins` (
	`session_id` text NOT NULL,
	`provider` text NOT NULL,
	`state_hash` text,
	`content` text NOT NULL,
	`at` integer NOT NULL,
	PRIMARY KEY(`session_id`, `provider`)
) STRICT;

CREATE UNIQUE INDEX `gate_test_sign_ins_state_hash_unique` ON `gate_test_sign_ins` (`state_hash`);

CREATE INDEX `gate_test_sign_ins_by_time` ON `gate_test_sign_ins` (`at`);
