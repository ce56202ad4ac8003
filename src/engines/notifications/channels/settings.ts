import { Value } from '@sinclair/typebox/value'
import { keepMasked } from '../../../delivery/custom-headers.ts'
import { asFlaw } from '../../../http/validation.ts'
import type { Sealing } from '../../../platform/sealing/index.ts'
import { MASK } from '../../../platform/secret-headers.ts'
import type { ChannelType } from '../channel-types.ts'
import { FORMATS } from '../formats/index.ts'
import { channelSettings } from '../sealed.ts'

export type Settings = Record<string, unknown>
type Texts = Record<string, string>

/** For settings that were sealed with another master key. */
export const UNREADABLE =
  'the settings of this channel cannot be decrypted. Delete it and create it again'

/** Encrypts settings, which have URLs and tokens by which anyone could post. */
export const sealSettings = (sealing: Sealing, id: string, settings: Settings): string =>
  sealing.seal(channelSettings.purpose, channelSettings.boundTo({ id }), JSON.stringify(settings))

/** Throws `SealError` if they were sealed with another master key. */
export const openSettings = (sealing: Sealing, id: string, sealed: string): Settings =>
  JSON.parse(sealing.open(channelSettings.purpose, channelSettings.boundTo({ id }), sealed))

/** The names of the settings of a type, and of those that no answer shows. */
export function settingsOf(type: ChannelType): { names: string[]; secrets: readonly string[] } {
  const { Settings, secrets } = FORMATS[type]
  return { names: Object.keys(Settings.properties), secrets }
}

/** The known settings of a type, with secrets that were written back masked. Throws `invalid`. */
export function checkedSettings(type: ChannelType, given: Settings, stored: Settings): Settings {
  const { Settings, check } = FORMATS[type]
  const { names, secrets } = settingsOf(type)
  const settings = Object.fromEntries(
    names
      .filter((name) => given[name] !== undefined)
      .map((name) => [
        name,
        secrets.includes(name) ? unmasked(name, given[name], stored[name]) : given[name],
      ]),
  )
  const flaw = Value.Errors(Settings, settings).First()
  if (flaw) throw asFlaw(flaw, 'settings')
  check?.(settings as never)
  return settings
}

/** Settings for answers: each secret is a mask. */
export function maskedSettings(type: ChannelType, settings: Settings): Settings {
  const { names, secrets } = settingsOf(type)
  return Object.fromEntries(
    names
      .filter((name) => settings[name] !== undefined)
      .map((name) => [name, secrets.includes(name) ? masked(settings[name]) : settings[name]]),
  )
}

const isObject = (value: unknown): value is Settings =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const masked = (value: unknown): unknown => {
  if (value === null) return null
  return isObject(value) ? Object.fromEntries(Object.keys(value).map((name) => [name, MASK])) : MASK
}

/** The stored value for a mask. Throws `invalid` for a mask without one. */
function unmasked(name: string, given: unknown, stored: unknown): unknown {
  const [next, known, field] = isObject(given)
    ? [given, isObject(stored) ? stored : {}, `settings.${name}`]
    : [{ [name]: given }, { [name]: stored }, 'settings']
  const kept = keepMasked(next as Texts, known as Texts, { field, isSecret: () => true })
  return isObject(given) ? kept : kept[name]
}
