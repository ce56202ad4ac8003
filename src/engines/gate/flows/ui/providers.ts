import type { ProviderName } from '../../../../config/index.ts'

const NAMES: Record<ProviderName, string> = {
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
}

/** What people call a provider. */
export const providerName = (provider: ProviderName): string => NAMES[provider]

/** For messages about one: its name for people, and the one for machines. */
export const aboutProvider = (provider: ProviderName) => ({
  provider: providerName(provider),
  provider_id: provider,
})
