import type { AnyProvider } from '../../../../config/index.ts'

const NAMES: Record<AnyProvider, string> = {
  github: 'GitHub',
  google: 'Google',
  gitlab: 'GitLab',
  microsoft: 'Microsoft',
  discord: 'Discord',
  facebook: 'Facebook',
  linkedin: 'LinkedIn',
  apple: 'Apple',
  slack: 'Slack',
  twitch: 'Twitch',
  spotify: 'Spotify',
  'github-tenant': 'GitHub',
  'google-tenant': 'Google',
}

/** What people call a provider. */
export const providerName = (provider: AnyProvider): string => NAMES[provider]

/** For messages about one: its name for people, and the one for machines. */
export const aboutProvider = (provider: AnyProvider) => ({
  provider: providerName(provider),
  provider_id: provider,
})
