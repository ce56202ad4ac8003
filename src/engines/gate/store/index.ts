import type { Db } from '../../../db/open.ts'
import { createAccessTokenStore } from './access-tokens.ts'
import { createAddressStore } from './addresses.ts'
import { createCodeStore } from './codes.ts'
import { createCredentialStore } from './credentials.ts'
import { createDecisionStore } from './decisions.ts'
import { createErasureStore } from './erasures.ts'
import { createFlowStore } from './flows.ts'
import { createIdentityStore } from './identities.ts'
import { createOAuthStateStore } from './oauth-states.ts'
import { createSessionStore } from './sessions.ts'
import { createSettingsStore } from './settings.ts'
import { createSocialLinkStore } from './social-links.ts'

export type Store = ReturnType<typeof createStore>

/** The only part of the engine that contains SQL. */
export const createStore = (db: Db) => ({
  identities: createIdentityStore(db),
  addresses: createAddressStore(db),
  credentials: createCredentialStore(db),
  sessions: createSessionStore(db),
  accessTokens: createAccessTokenStore(db),
  decisions: createDecisionStore(db),
  settings: createSettingsStore(db),
  flows: createFlowStore(db),
  codes: createCodeStore(db),
  socialLinks: createSocialLinkStore(db),
  oauthStates: createOAuthStateStore(db),
  erasures: createErasureStore(db),
})
