import { Type } from '@sinclair/typebox'
import { ALERT_KINDS } from '../../platform/alerts/index.ts'
import { invalid } from '../../platform/errors.ts'
import { json, sealedJson } from '../../platform/portable/fields.ts'
import {
  asItIs,
  numbered,
  type Portable,
  type PortableTable,
} from '../../platform/portable/table.ts'
import { MAX_CHANNELS } from './channels/channels.ts'
import type { ChannelRow } from './channels/store.ts'
import { notificationChannels } from './schema.ts'
import { channelSettings } from './sealed.ts'

const MAX_LENGTH = 400

/** Settings are checked by the guard and the format with each notice, as the file is not trusted. */
const channel: PortableTable<ChannelRow> = {
  kind: 'channel',
  table: notificationChannels,
  columns: {
    seq: numbered,
    id: asItIs,
    tenantId: asItIs,
    name: asItIs,
    type: asItIs,
    settings: sealedJson(channelSettings, Type.Record(Type.String(), Type.Unknown())),
    hint: asItIs,
    kinds: json(Type.Array(Type.Union(ALERT_KINDS.map((kind) => Type.Literal(kind))))),
    minSeverity: asItIs,
    isActive: asItIs,
    createdAt: asItIs,
    updatedAt: asItIs,
    lastAt: { leftOut: 'history' },
    lastError: { leftOut: 'history' },
  },
  order: ['seq'],
  most: { rows: MAX_CHANNELS },
  check({ name, hint }) {
    for (const [field, text] of Object.entries({ name, hint }))
      if (text.length > MAX_LENGTH)
        throw invalid(`must be at most ${MAX_LENGTH} characters`, { field, rule: 'too_long' })
  },
}

/** Channels move with their tenant. */
export const portable: Portable = { tables: [channel], leftOut: { notices: 'queued, or history' } }
