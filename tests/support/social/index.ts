export { type Account, CONSUMERS, newAccount, ORGANISATION, uuidOf } from './personas.ts'
export {
  type Answers,
  NOTHING_SET,
  type ProviderSettings,
  type Providers,
  startProviders,
  type Tamper,
} from './providers.ts'
export { newAppleClient, newSigningKey, published, signToken } from './signing.ts'
export { type Arrival, walk, withParams } from './walk.ts'
