import type { IconName } from '../icons.tsx'

interface PageEntry {
  label: string
  path: string
  icon: IconName
}

const page = (label: string, path: string, icon: IconName): PageEntry => ({ label, path, icon })

/** Every page that the sidebar and the command palette link to. */
export const PAGES = {
  overview: page('Overview', '/console', 'overview'),
  identities: page('Users', '/console/identities', 'identities'),
  signIn: page('Sign-in methods', '/console/sign-in', 'signIn'),
  policies: page('Policies', '/console/policies', 'policies'),
  webhooks: page('User webhooks', '/console/webhooks', 'webhooks'),
  jobs: page('Jobs', '/console/jobs', 'jobs'),
  delayed: page('Delayed jobs', '/console/delayed', 'delayed'),
  bots: page('Bots', '/console/bots', 'bots'),
  logins: page('Logins', '/console/logins', 'logins'),
  endpoints: page('Endpoints', '/console/endpoints', 'endpoints'),
  messages: page('Messages', '/console/messages', 'messages'),
  deliveries: page('Deliveries', '/console/deliveries', 'deliveries'),
  eventTypes: page('Event types', '/console/event-types', 'eventTypes'),
  keys: page('API keys', '/console/keys', 'keys'),
  team: page('Team', '/console/team', 'team'),
  usage: page('Usage', '/console/usage', 'usage'),
  audit: page('Audit log', '/console/audit', 'audit'),
  settings: page('Settings', '/console/settings', 'settings'),
  tenants: page('Tenants', '/console/admin/tenants', 'tenants'),
  operators: page('Operators', '/console/admin/operators', 'team'),
  health: page('Health', '/console/admin/health', 'health'),
  mail: page('Email outbox', '/console/admin/mail', 'mail'),
  configuration: page('Configuration', '/console/admin/configuration', 'configuration'),
} as const satisfies Record<string, PageEntry>

export type PageKey = keyof typeof PAGES

interface NavigationGroup {
  /** What its engine does; undefined for the overview. */
  title?: string
  pages: readonly PageKey[]
}

const OF_TENANT: readonly NavigationGroup[] = [
  { pages: ['overview'] },
  { title: 'Users', pages: ['identities', 'signIn', 'policies', 'webhooks'] },
  { title: 'Jobs', pages: ['jobs', 'delayed'] },
  { title: 'Messenger login', pages: ['bots', 'logins'] },
  { title: 'Webhooks', pages: ['endpoints', 'messages', 'deliveries', 'eventTypes'] },
  { title: 'Tenant', pages: ['keys', 'team', 'usage', 'audit', 'settings'] },
]

const OF_INSTALLATION: readonly NavigationGroup[] = [
  { pages: ['overview'] },
  { title: 'Installation', pages: ['tenants', 'operators', 'health', 'mail', 'configuration'] },
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
  home: '/console',
  find: '/console/find',
  account: '/console/account',
  switchScope: '/console/switch',
  environment: '/console/environment',
  theme: '/console/theme',
  signOut: '/console/sign-out',
} as const
