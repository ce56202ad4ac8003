ALTER TABLE `usage_months` ADD `cost_rest` integer DEFAULT 0 NOT NULL;

ALTER TABLE `usage_months` ADD `cost_per` integer DEFAULT 1 NOT NULL;
