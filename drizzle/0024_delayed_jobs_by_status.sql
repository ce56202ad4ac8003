DROP INDEX `delayed_jobs_by_tenant`;

CREATE INDEX `delayed_jobs_by_tenant` ON `delayed_jobs` (`tenant_id`,`run_at`,`seq`,`status`);
