import type { Db } from '../../db/open.ts'
import { createDecisionStore } from './authorization/decisions-store.ts'
import { createCredentialStore } from './credentials/store.ts'
import { createAddressStore } from './identities/addresses-store.ts'
import { createErasureStore } from './identities/erasures-store.ts'
import { createSearchStore } from './identities/search/store.ts'
import { createIdentityStore } from './identities/store.ts'
import { createTestSignInStore } from './operators/test-sign-ins-store.ts'
import { createSignInStore } from './sessions/sign-ins-store.ts'
import { createSessionStore } from './sessions/store.ts'
import { createSettingsStore } from './settings/store.ts'
import { createCodeStore } from './sign-in/flows/codes-store.ts'
import { createFlowStore } from './sign-in/flows/store.ts'
import { createMailTextStore } from './sign-in/mail-templates/texts-store.ts'
import { createSocialLinkStore } from './sign-in/social/links-store.ts'
import { createOAuthStateStore } from './sign-in/social/oauth-states-store.ts'
import { createAccessTokenStore } from './tokens/store.ts'

export type Store = ReturnType<typeof createStore>

/** The only part of the engine that contains SQL. */
export const createStore = (db: Db) => ({
  identities: createIdentityStore(db),
  search: createSearchStore(db),
  addresses: createAddressStore(db),
  credentials: createCredentialStore(db),
  sessions: createSessionStore(db),
  signIns: createSignInStore(db),
  accessTokens: createAccessTokenStore(db),
  decisions: createDecisionStore(db),
  settings: createSettingsStore(db),
  mailTexts: createMailTextStore(db),
  flows: createFlowStore(db),
  codes: createCodeStore(db),
  socialLinks: createSocialLinkStore(db),
  oauthStates: createOAuthStateStore(db),
  testSignIns: createTestSignInStore(db),
  erasures: createErasureStore(db),
})
