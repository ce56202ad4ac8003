// Written by scripts/migration.ts: every migration in order, embedded as text.
import m0000 from './0000_foundation.sql' with { type: 'text' }
import m0001 from './0001_relay.sql' with { type: 'text' }
import m0002 from './0002_gate.sql' with { type: 'text' }
import m0003 from './0003_passepartout.sql' with { type: 'text' }
import m0004 from './0004_operations.sql' with { type: 'text' }
import m0005 from './0005_usage_cost.sql' with { type: 'text' }
import m0006 from './0006_console.sql' with { type: 'text' }
import m0007 from './0007_mailed_links.sql' with { type: 'text' }
import m0008 from './0008_first_run.sql' with { type: 'text' }
import m0009 from './0009_branding.sql' with { type: 'text' }
import m0010 from './0010_installation_settings.sql' with { type: 'text' }
import m0011 from './0011_tenant_time_zone.sql' with { type: 'text' }
import m0012 from './0012_user_search.sql' with { type: 'text' }
import m0013 from './0013_key_details.sql' with { type: 'text' }
import m0014 from './0014_session_and_password_rules.sql' with { type: 'text' }
import m0015 from './0015_tenant_deletion.sql' with { type: 'text' }
import m0016 from './0016_sign_in_history.sql' with { type: 'text' }
import m0017 from './0017_jobs_by_url.sql' with { type: 'text' }
import m0018 from './0018_test_sign_ins.sql' with { type: 'text' }
import m0019 from './0019_job_time_zone.sql' with { type: 'text' }
import m0020 from './0020_job_options.sql' with { type: 'text' }
import m0021 from './0021_list_sorts.sql' with { type: 'text' }
import m0022 from './0022_alerts.sql' with { type: 'text' }
import m0023 from './0023_sorted_jobs.sql' with { type: 'text' }
import m0024 from './0024_monitors.sql' with { type: 'text' }
import m0025 from './0025_alert_after.sql' with { type: 'text' }
import m0026 from './0026_reuse_connection.sql' with { type: 'text' }

export const migrations = [
  { id: '0000_foundation', sql: m0000 },
  { id: '0001_relay', sql: m0001 },
  { id: '0002_gate', sql: m0002 },
  { id: '0003_passepartout', sql: m0003 },
  { id: '0004_operations', sql: m0004 },
  { id: '0005_usage_cost', sql: m0005 },
  { id: '0006_console', sql: m0006 },
  { id: '0007_mailed_links', sql: m0007 },
  { id: '0008_first_run', sql: m0008 },
  { id: '0009_branding', sql: m0009 },
  { id: '0010_installation_settings', sql: m0010 },
  { id: '0011_tenant_time_zone', sql: m0011 },
  { id: '0012_user_search', sql: m0012 },
  { id: '0013_key_details', sql: m0013 },
  { id: '0014_session_and_password_rules', sql: m0014 },
  { id: '0015_tenant_deletion', sql: m0015 },
  { id: '0016_sign_in_history', sql: m0016 },
  { id: '0017_jobs_by_url', sql: m0017 },
  { id: '0018_test_sign_ins', sql: m0018 },
  { id: '0019_job_time_zone', sql: m0019 },
  { id: '0020_job_options', sql: m0020 },
  { id: '0021_list_sorts', sql: m0021 },
  { id: '0022_alerts', sql: m0022 },
  { id: '0023_sorted_jobs', sql: m0023 },
  { id: '0024_monitors', sql: m0024 },
  { id: '0025_alert_after', sql: m0025 },
  { id: '0026_reuse_connection', sql: m0026 },
]
