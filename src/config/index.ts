export { renderExample } from './example.ts'
export { type Flags, settingFlags } from './flags.ts'
export { type LoadInput, type LoadResult, loadConfig, type Origins } from './load.ts'
export { nearest } from './nearest.ts'
export { type ConfigError, formatErrors, type Origin } from './reading.ts'
export { requiredOf } from './rules.ts'
export {
  ALL_PROVIDERS,
  type AnyProvider,
  type Config,
  OPERATOR_PROVIDERS,
  PROVIDERS,
  type ProviderName,
} from './settings.ts'
export { describeConfig, formatRows, type SettingRow } from './show.ts'
export {
  isGiven,
  originsWith,
  requiredIn,
  STORABLE_TABLES,
  type StorableTable,
  type StoredProblem,
  type StoredValues,
  withStored,
} from './stored.ts'
