import type { KeyEngine } from '../platform/engines.ts'

/** Short name, label and description of what a key opens, by what it does. */
export const ENGINE_WORDS: Record<KeyEngine, { name: string; label: string; text: string }> = {
  gate: {
    name: 'Users',
    label: 'Users (gate)',
    text: 'Sign-up, sign-in, sessions and authorization',
  },
  clockwork: { name: 'Jobs', label: 'Jobs (clockwork)', text: 'Scheduled HTTP requests' },
  passepartout: {
    name: 'Messenger login',
    label: 'Messenger login (passepartout)',
    text: 'Sign-in with Telegram',
  },
  relay: {
    name: 'Webhooks',
    label: 'Webhooks (relay)',
    text: 'Event delivery to subscribed endpoints',
  },
  notifications: {
    name: 'Notifications',
    label: 'Notifications',
    text: 'Alerts when something is wrong',
  },
  manifest: {
    name: 'Manifest',
    label: 'Manifest',
    text: 'Configuration as code: jobs, endpoints, settings and keys of this tenant',
  },
  installation: {
    name: 'Installation',
    label: 'Installation',
    text: 'Tenants, operators and API keys',
  },
}
