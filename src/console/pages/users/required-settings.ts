import type { Config, ProviderName } from '../../../config/index.ts'

/** A required setting of a provider. */
export interface Required {
  name: string
  isSet: boolean
  /** Undefined for secrets. */
  value?: string | undefined
}

/** Required settings of a provider, by their names in the configuration file. */
export function requiredSettings({ gate }: Config, name: ProviderName): Required[] {
  const { clientId, clientSecret, teamId, keyId, privateKey } = gate.providers[name]
  const wanted =
    name === 'apple'
      ? { client_id: clientId, team_id: teamId, key_id: keyId, private_key: privateKey }
      : { client_id: clientId, client_secret: clientSecret }
  return Object.entries(wanted).map(([setting, value]) => ({
    name: setting,
    isSet: value !== undefined,
    ...(setting === 'client_id' && { value }),
  }))
}

export const missingOf = (config: Config, name: ProviderName): string[] =>
  requiredSettings(config, name).flatMap(({ name, isSet }) => (isSet ? [] : [name]))
