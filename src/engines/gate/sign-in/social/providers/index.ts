import type { AnyProvider } from '../../../../../config/index.ts'
import type { Provider } from '../provider.ts'
import { apple } from './apple.ts'
import { discord } from './discord.ts'
import { facebook } from './facebook.ts'
import { github, githubTenant } from './github.ts'
import { gitlab } from './gitlab.ts'
import { google, googleTenant } from './google.ts'
import { linkedin } from './linkedin.ts'
import { microsoft } from './microsoft.ts'
import { slack } from './slack.ts'
import { spotify } from './spotify.ts'
import { twitch } from './twitch.ts'

/** The differences between the providers. */
export const providers: Readonly<Record<AnyProvider, Provider>> = {
  github,
  google,
  gitlab,
  microsoft,
  discord,
  facebook,
  linkedin,
  apple,
  slack,
  twitch,
  spotify,
  'github-tenant': githubTenant,
  'google-tenant': googleTenant,
}
