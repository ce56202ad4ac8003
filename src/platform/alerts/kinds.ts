export const SEVERITIES = ['critical', 'warning'] as const
export type Severity = (typeof SEVERITIES)[number]

interface Kind {
  /** Of an alert that gives none itself. */
  severity: Severity
  /** The title while it is open, and once it is resolved, for the name of its subject. */
  opened: (name: string) => string
  resolved: (name: string) => string
  /** Without reminders while it is open. */
  isToldOnce?: true
}

/** Everything that an alert can be about. */
const KINDS = {
  'job.failed': {
    severity: 'critical',
    opened: (name) => `Job ${name} is failing`,
    resolved: (name) => `Job ${name} works again`,
  },
  'monitor.down': {
    severity: 'critical',
    opened: (name) => `Monitor ${name} is down`,
    resolved: (name) => `Monitor ${name} is up again`,
  },
  'endpoint.failing': {
    severity: 'warning',
    opened: (name) => `Endpoint ${name} is failing`,
    resolved: (name) => `Endpoint ${name} works again`,
  },
  'endpoint.disabled': {
    severity: 'critical',
    opened: (name) => `Endpoint ${name} is disabled`,
    resolved: (name) => `Endpoint ${name} is active again`,
  },
  'message.exhausted': {
    severity: 'critical',
    opened: (name) => `Events for ${name} were not delivered`,
    resolved: (name) => `Events for ${name} were not delivered`,
  },
  'bot.failing': {
    severity: 'critical',
    opened: (name) => `Bot ${name} doesn't receive messages`,
    resolved: (name) => `Bot ${name} receives messages again`,
  },
  'usage.threshold': {
    severity: 'warning',
    opened: (name) => `${name} used`,
    resolved: (name) => `${name} used`,
  },
  'spend_cap.reached': {
    severity: 'critical',
    opened: () => 'Spend cap reached',
    resolved: () => 'Spend cap reached',
  },
  'mail.failing': {
    severity: 'critical',
    opened: () => 'Emails are not sent',
    resolved: () => 'Emails are sent again',
  },
  'backlog.growing': {
    severity: 'warning',
    opened: (name) => `${name} are late`,
    resolved: (name) => `${name} are on time again`,
  },
  'backup.failed': {
    severity: 'critical',
    opened: () => 'Backup failed',
    resolved: () => 'Backups succeed again',
  },
  'backup.overdue': {
    severity: 'critical',
    opened: () => 'Backup overdue',
    resolved: () => 'Backups are up to date',
  },
  'replica.unreachable': {
    severity: 'critical',
    opened: () => 'Replica cannot be reached',
    resolved: () => 'Replica confirms writes again',
  },
  'server.failed_over': {
    severity: 'critical',
    opened: (name) => `Server ${name} stopped, and another one took over`,
    resolved: (name) => `Server ${name} stopped, and another one took over`,
  },
  'standby.missing': {
    severity: 'warning',
    opened: () => 'No standby is ready',
    resolved: () => 'A standby is ready again',
  },
  'database.set_aside': {
    severity: 'warning',
    opened: (name) => `Server ${name} keeps a database that was set aside`,
    resolved: (name) => `Server ${name} keeps no database that was set aside`,
    isToldOnce: true,
  },
  'disk.low': {
    severity: 'critical',
    opened: () => 'Disk almost full',
    resolved: () => 'Disk has free space again',
  },
  'database.damaged': {
    severity: 'critical',
    opened: () => 'Database files damaged or moved',
    resolved: () => 'Database files in order again',
  },
  'version.new': {
    severity: 'warning',
    opened: (name) => `Gatehouse ${name} is available`,
    resolved: (name) => `Gatehouse ${name} is installed`,
    isToldOnce: true,
  },
  'alerts.limit': {
    severity: 'critical',
    opened: () => 'Too many open alerts',
    resolved: () => 'Fewer open alerts',
  },
} as const satisfies Record<string, Kind>

export type AlertKind = keyof typeof KINDS

export const ALERT_KINDS = Object.keys(KINDS) as readonly AlertKind[]

export const severityOf = (kind: AlertKind): Severity => KINDS[kind].severity

export const isToldOnce = (kind: AlertKind): boolean => 'isToldOnce' in KINDS[kind]

/** What an alert says in a few words, such as "Job Nightly report is failing". */
export const titleOf = (of: { kind: AlertKind; name: string; state: 'open' | 'resolved' }) =>
  KINDS[of.kind][of.state === 'open' ? 'opened' : 'resolved'](of.name)
