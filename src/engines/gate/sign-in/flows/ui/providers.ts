import type { AnyProvider } from '../../../../../config/index.ts'

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

/** The display name of a provider. */
export const providerName = (provider: AnyProvider): string => NAMES[provider]

/** The context of messages about a provider: its display name and its id. */
export const aboutProvider = (provider: AnyProvider) => ({
  provider: providerName(provider),
  provider_id: provider,
})
