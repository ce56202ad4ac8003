export { type Account, CONSUMERS, newAccount, ORGANISATION, uuidOf } from './accounts.ts'
export {
  NOTHING_SET,
  type ProviderSettings,
  type Providers,
  startProviders,
  type Tamper,
} from './providers.ts'
export { newSigningKey, published, signToken } from './signing.ts'
export { type Arrival, walk, withParams } from './walk.ts'
