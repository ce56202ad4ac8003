import type { AnyProvider, ProviderName } from '../../../config/index.ts'

/** How a provider names what has to be entered there and copied from there. */
interface Guide {
  /** Where to register an app. */
  href: string
  /** What to create there, as the rest of a sentence that begins with "Create". */
  create: string
  /** The field for the redirect URL. */
  redirectField: string
  /** The names of the credentials, if they are not client ID and client secret. */
  labels?: Readonly<Record<string, string>>
  /** What else is needed. */
  note?: string
}

const GITHUB: Guide = {
  href: 'https://github.com/settings/applications/new',
  create: 'an OAuth app under Settings → Developer settings → OAuth apps',
  redirectField: 'Authorization callback URL',
}

const GOOGLE: Guide = {
  href: 'https://console.cloud.google.com/apis/credentials',
  create: 'an OAuth client ID of the type Web application',
  redirectField: 'Authorized redirect URIs',
  note: 'Publish the OAuth consent screen. Until then, only test users can sign in.',
}

const GUIDES: Readonly<Record<ProviderName, Guide>> = {
  github: GITHUB,
  google: GOOGLE,
  gitlab: {
    href: 'https://gitlab.com/-/user_settings/applications',
    create: 'a confidential application with the scopes openid, profile and email',
    redirectField: 'Redirect URI',
    labels: { client_id: 'Application ID', client_secret: 'Secret' },
    note: 'For your own GitLab, create the application there and set the base URL, such as https://gitlab.example.com.',
  },
  microsoft: {
    href: 'https://entra.microsoft.com/#view/Microsoft_AAD_RegisteredApps/ApplicationsListBlade',
    create:
      'an app registration with the platform Web, and a client secret under Certificates & secrets',
    redirectField: 'Redirect URI',
    labels: { client_id: 'Application (client) ID', client_secret: 'Client secret value' },
    note: 'To accept accounts of one directory only, set the base URL to https://login.microsoftonline.com/ and the directory ID.',
  },
  discord: {
    href: 'https://discord.com/developers/applications',
    create: 'an application, and open OAuth2',
    redirectField: 'Redirects',
  },
  facebook: {
    href: 'https://developers.facebook.com/apps',
    create: 'an app with Facebook Login and the permission email',
    redirectField: 'Valid OAuth Redirect URIs',
    labels: { client_id: 'App ID', client_secret: 'App secret' },
    note: 'Switch the app to live mode. Until then, only people with a role in the app can sign in.',
  },
  linkedin: {
    href: 'https://www.linkedin.com/developers/apps',
    create: 'an app with the product Sign In with LinkedIn using OpenID Connect, and open Auth',
    redirectField: 'Authorized redirect URLs for your app',
    labels: { client_secret: 'Primary client secret' },
  },
  apple: {
    href: 'https://developer.apple.com/account/resources/identifiers/list/serviceId',
    create: 'a Services ID with Sign in with Apple, and a key with Sign in with Apple',
    redirectField: 'Return URLs',
    labels: {
      client_id: 'Services ID',
      team_id: 'Team ID',
      key_id: 'Key ID',
      private_key: 'Private key (.p8)',
    },
    note: 'Apple accepts only https with a domain name. To email users who hide their address, register your sender domain with Apple.',
  },
  slack: {
    href: 'https://api.slack.com/apps',
    create: 'an app, and open OAuth & Permissions',
    redirectField: 'Redirect URLs',
    note: 'To accept users of other workspaces, activate public distribution.',
  },
  twitch: {
    href: 'https://dev.twitch.tv/console/apps',
    create: 'an application of the client type Confidential',
    redirectField: 'OAuth Redirect URLs',
  },
  spotify: {
    href: 'https://developer.spotify.com/dashboard',
    create: 'an app that uses the Web API',
    redirectField: 'Redirect URIs',
    note: 'Request extended quota mode. Until then, only users on the allowlist can sign in.',
  },
}

/** How to register an app with a provider. */
export function guideTo(provider: AnyProvider): Guide {
  if (provider === 'github-tenant') return GITHUB
  return provider === 'google-tenant' ? GOOGLE : GUIDES[provider]
}

const LABELS: Readonly<Record<string, string>> = {
  client_id: 'Client ID',
  client_secret: 'Client secret',
}

/** The label of a credential, as the provider calls it. */
export const credentialLabel = (provider: AnyProvider, key: string): string =>
  guideTo(provider).labels?.[key] ?? LABELS[key] ?? key
