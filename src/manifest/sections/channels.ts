import { t } from 'elysia'
import type { Channels } from '../../engines/notifications/channels/channels.ts'
import { FORMATS } from '../../engines/notifications/formats/index.ts'
import { NewChannel } from '../../engines/notifications/model.ts'
import { fieldsOf } from '../../engines/notifications/present.ts'
import { AppError, invalid } from '../../platform/errors.ts'
import { collection, type Item, readOnly } from '../section.ts'
import { isObject, mask } from '../values.ts'

const { name, ...fields } = NewChannel.properties
const Named = t.Object({ ...fields, name: t.Required(name) }, { additionalProperties: false })

const DEFAULTS = {
  kinds: null,
  min_severity: 'warning',
  active: true,
} satisfies Partial<NewChannel>

/** Notification channels, by their name. */
export const channelsSection = (channels: Channels) =>
  collection<NewChannel>({
    name: 'channels',
    noun: 'channel',
    key: 'name',
    schema: Named,
    defaultsOf: () => ({ ...DEFAULTS, settings: {} }),
    masked,
    list: ({ tenantId }) =>
      channels
        .list(tenantId)
        .map((channel) => ({
          id: channel.id,
          item: {
            type: channel.type,
            name: channel.name,
            settings: settingsOf(channels, tenantId, channel.id),
            kinds: channel.kinds,
            min_severity: channel.minSeverity,
            active: channel.isActive,
          },
        })),
    async create({ tenantId, actor }, { type, ...input }) {
      refuseUnknown(type, input)
      const { channel, secret } = await channels.create(tenantId, actor, {
        type,
        ...fieldsOf(input),
      })
      return { id: channel.id, ...(secret !== undefined && { secret }) }
    },
    async update({ tenantId, actor }, id, { type, ...change }) {
      if (type !== undefined) throw readOnly('type', 'channel')
      refuseUnknown(channels.get(tenantId, id).type, change)
      return channels.update(tenantId, actor, id, fieldsOf(change))
    },
    remove: ({ tenantId, actor }, id) => channels.remove(tenantId, actor, id),
  })

/** The API ignores settings that the type doesn't have; in a manifest, they are mistakes. */
function refuseUnknown(type: NewChannel['type'], { settings = {} }: Partial<NewChannel>) {
  const known = FORMATS[type].Settings.properties
  const unknown = Object.keys(settings).find((one) => !Object.hasOwn(known, one))
  if (unknown !== undefined)
    throw invalid('is not known here', { field: `settings.${unknown}`, rule: 'unknown' })
}

/**
 * The settings that the type has and that are set, without the secrets that sign a webhook; empty if
 * unreadable.
 */
function settingsOf(channels: Channels, tenantId: string, id: string): Item {
  try {
    const { row, settings } = channels.open(tenantId, id)
    const names = Object.keys(FORMATS[row.type].Settings.properties)
    return Object.fromEntries(
      names.flatMap((one) => (settings[one] == null ? [] : [[one, settings[one]]])),
    )
  } catch (error) {
    if (error instanceof AppError && error.kind === 'conflict') return {}
    throw error
  }
}

function masked(item: Item): Item {
  const { secrets } = FORMATS[item.type as NewChannel['type']]
  const hidden: readonly string[] = secrets
  const settings = isObject(item.settings) ? item.settings : {}
  return {
    ...item,
    settings: Object.fromEntries(
      Object.entries(settings).map(([one, value]) => [
        one,
        hidden.includes(one) ? mask(value) : value,
      ]),
    ),
  }
}
