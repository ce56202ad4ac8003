import { Type } from '@sinclair/typebox'
import { isNull } from 'drizzle-orm'
import { ENGINES, ENVIRONMENTS } from '../platform/engines.ts'
import { invalid } from '../platform/errors.ts'
import { checkHeaders } from '../platform/outbound/index.ts'
import { json, Milliseconds, requireWebUrl, sealedJson } from '../platform/portable/fields.ts'
import { asItIs, numbered, type Portable, type PortableTable } from '../platform/portable/table.ts'
import type { SealedColumn } from '../platform/sealing/column.ts'
import { ENDPOINTS_PER_STREAM } from './limits.ts'
import { checkChannel, checkTypePattern } from './matching.ts'
import { endpoints } from './schema.ts'
import { endpointHeaders, endpointSecrets } from './sealed.ts'
import { checkSecret, type SigningSecret } from './signing-secrets.ts'
import type { EndpointRow } from './store/endpoints.ts'
import { createStore } from './store/index.ts'

const STREAMS: readonly string[] = ENGINES.flatMap((engine) =>
  ENVIRONMENTS.map((environment) => `${engine}.${environment}`),
)

const Names = Type.Array(Type.String())

const Secrets = Type.Array(
  Type.Object(
    { secret: Type.String(), expiresAt: Type.Union([Milliseconds, Type.Null()]) },
    { additionalProperties: false },
  ),
  { minItems: 1, maxItems: 5 },
)

/** A sealed list of signing secrets. */
export const secretsField = <Name extends string>(column: SealedColumn<Name>) =>
  sealedJson<Record<Name, string>>(column, Secrets, (value) => {
    for (const { secret } of value as SigningSecret[]) checkSecret(secret)
  })

const endpoint: PortableTable<EndpointRow> = {
  kind: 'endpoint',
  table: endpoints,
  columns: {
    seq: numbered,
    id: asItIs,
    tenantId: asItIs,
    stream: asItIs,
    url: asItIs,
    description: asItIs,
    eventTypes: json(
      Names,
      eachOf((type) => checkTypePattern(type, 'event_types')),
    ),
    channels: json(
      Names,
      eachOf((channel) => checkChannel(channel, 'channels')),
    ),
    format: asItIs,
    headers: sealedJson(endpointHeaders, Type.Record(Type.String(), Type.String()), (value) =>
      checkHeaders(value as Record<string, string>),
    ),
    secrets: secretsField(endpointSecrets),
    isActive: asItIs,
    disabledReason: asItIs,
    createdAt: asItIs,
    updatedAt: asItIs,
    deletedAt: { leftOut: 'deleted endpoints are not exported' },
  },
  order: ['stream', 'seq'],
  only: isNull(endpoints.deletedAt),
  most: { rows: ENDPOINTS_PER_STREAM, per: 'stream' },
  check({ stream, url, isActive, disabledReason }) {
    if (!STREAMS.includes(stream))
      throw invalid('must be an engine and an environment', { field: 'stream', rule: 'format' })
    requireWebUrl(url, 'url')
    if (isActive !== (disabledReason === null))
      throw invalid('must only be set if is_active is false', {
        field: 'disabled_reason',
        rule: 'mismatch',
      })
  },
  /** An imported endpoint receives only events from now on. */
  arriving(db) {
    const store = createStore(db)
    return {
      add: ({ id, eventTypes, channels }) =>
        store.endpoints.addFilter({
          endpointId: id,
          afterSeq: store.messages.lastSeq(),
          eventTypes,
          channels,
        }),
    }
  },
}

function eachOf(check: (text: string) => void) {
  return (texts: unknown) => (texts as string[]).forEach(check)
}

/** Exports the endpoints of all engines, including webhooks. */
export const portable: Portable = {
  tables: [endpoint],
  leftOut: {
    messages: 'history',
    deliveries: 'history; open deliveries stay with the installation that accepted them',
    attempts: 'history',
    endpoint_filters: 'recreated: an endpoint receives events sent after the move',
    endpoint_health: 'measured again after the move',
    endpoint_hours: 'history',
  },
}
