import type { Config } from '../../../src/config/index.ts'

/** What the configuration says of one provider. */
export type ProviderSettings = Config['gate']['providers']['google']

export const NOTHING_SET: ProviderSettings = {
  clientId: undefined,
  clientSecret: undefined,
  teamId: undefined,
  keyId: undefined,
  privateKey: undefined,
  baseUrl: undefined,
  authorizeUrl: undefined,
  tokenUrl: undefined,
  userinfoUrl: undefined,
  issuer: undefined,
  jwksUrl: undefined,
}
