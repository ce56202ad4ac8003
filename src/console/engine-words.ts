import type { Engine } from '../platform/engines.ts'

/** Label and description of an engine, by what it does. */
export const ENGINE_WORDS: Record<Engine, { label: string; text: string }> = {
  gate: { label: 'Users (gate)', text: 'Sign-up, sign-in, sessions and authorization' },
  clockwork: { label: 'Jobs (clockwork)', text: 'Scheduled HTTP requests' },
  passepartout: { label: 'Messenger login (passepartout)', text: 'Sign-in with Telegram' },
  relay: { label: 'Webhooks (relay)', text: 'Event delivery to subscribed endpoints' },
}
