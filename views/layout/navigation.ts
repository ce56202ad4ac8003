import type { IconName } from '../ui/icons.tsx'

interface PageEntry {
  label: string
  path: string
  icon: IconName
}

const page = (label: string, path: string, icon: IconName): PageEntry => ({ label, path, icon })

/** Every page that the sidebar and the command palette link to. */
export const PAGES = {
  overview: page('Overview', '', 'overview'),
  alerts: page('Alerts', '/alerts', 'alerts'),
  identities: page('Users', '/identities', 'identities'),
  signIn: page('Sign-in methods', '/sign-in', 'signIn'),
  policies: page('Policies', '/policies', 'policies'),
  webhooks: page('User webhooks', '/webhooks', 'webhooks'),
  jobs: page('Jobs', '/jobs', 'jobs'),
  delayed: page('Delayed jobs', '/delayed', 'delayed'),
  monitors: page('Monitors', '/monitors', 'monitors'),
  bots: page('Bot', '/bots', 'bots'),
  logins: page('Logins', '/logins', 'logins'),
  endpoints: page('Endpoints', '/endpoints', 'endpoints'),
  messages: page('Messages', '/messages', 'messages'),
  deliveries: page('Deliveries', '/deliveries', 'deliveries'),
  eventTypes: page('Event types', '/event-types', 'eventTypes'),
  keys: page('API keys', '/keys', 'keys'),
  team: page('Team', '/team', 'team'),
  usage: page('Usage', '/usage', 'usage'),
  audit: page('Audit log', '/audit', 'audit'),
  settings: page('Settings', '/settings', 'settings'),
  tenants: page('Tenants', '/tenants', 'tenants'),
  operators: page('Operators', '/operators', 'team'),
  health: page('Health', '/health', 'health'),
  mail: page('Email outbox', '/mail', 'mail'),
  providers: page('Social login', '/providers', 'signIn'),
  mailServer: page('Mail server', '/mail-server', 'messages'),
  notifications: page('Notifications', '/notifications', 'notifications'),
  backups: page('Backups', '/backups', 'backups'),
  failover: page('Failover', '/failover', 'failover'),
  configuration: page('Configuration', '/configuration', 'configuration'),
} as const satisfies Record<string, PageEntry>

export type PageKey = keyof typeof PAGES

interface NavigationGroup {
  /** What its engine does; undefined for the overview. */
  title?: string
  pages: readonly PageKey[]
}

const OF_TENANT: readonly NavigationGroup[] = [
  { pages: ['overview', 'alerts'] },
  { title: 'Users', pages: ['identities', 'signIn', 'policies', 'webhooks'] },
  { title: 'Jobs', pages: ['jobs', 'delayed', 'monitors'] },
  { title: 'Messenger login', pages: ['bots', 'logins'] },
  { title: 'Webhooks', pages: ['endpoints', 'messages', 'deliveries', 'eventTypes'] },
  { title: 'Workspace', pages: ['keys', 'team', 'usage', 'audit', 'settings'] },
]

const OF_INSTALLATION: readonly NavigationGroup[] = [
  { pages: ['overview', 'alerts'] },
  {
    title: 'Installation',
    pages: [
      'tenants',
      'operators',
      'keys',
      'health',
      'providers',
      'mailServer',
      'mail',
      'notifications',
      'backups',
      'failover',
      'configuration',
    ],
  },
]

/** Pages of a tenant or of the installation, except those that the operator can't open. */
export const navigationOf = (
  scope: 'tenant' | 'installation',
  hiddenPages: readonly PageKey[] = [],
): readonly NavigationGroup[] =>
  (scope === 'tenant' ? OF_TENANT : OF_INSTALLATION).map(({ pages, ...group }) => ({
    ...group,
    pages: pages.filter((page) => !hiddenPages.includes(page)),
  }))

/** Paths that the layout links or posts to. */
export const LAYOUT_PATHS = {
  find: '/find',
  account: '/account',
  switchScope: '/switch',
  theme: '/theme',
  signOut: '/sign-out',
} as const
