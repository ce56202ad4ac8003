import type { Db } from '../../../db/open.ts'
import {
  checkSecret,
  newSecret,
  rotate,
  type SigningSecret,
} from '../../../delivery/signing-secrets.ts'
import type { AlertKind, Severity } from '../../../platform/alerts/index.ts'
import type { Actor, Audit } from '../../../platform/audit/index.ts'
import type { Clock } from '../../../platform/clock.ts'
import { conflict, fail, notFound } from '../../../platform/errors.ts'
import { newId } from '../../../platform/ids.ts'
import { SealError, type Sealing } from '../../../platform/sealing/index.ts'
import type { ChannelType } from '../channel-types.ts'
import { FORMATS } from '../formats/index.ts'
import type { createChecks } from './checks.ts'
import {
  checkedSettings,
  maskedSettings,
  openSettings,
  type Settings,
  sealSettings,
  UNREADABLE,
} from './settings.ts'
import type { ChannelRow, createChannelStore } from './store.ts'

/** Of a tenant, or of the installation for null. */
export const MAX_CHANNELS = 20

export interface ChannelFields {
  name: string
  settings: Settings
  /** Null for all. */
  kinds: AlertKind[] | null
  minSeverity: Severity
  isActive: boolean
}

export type NewChannel = Partial<ChannelFields> & { type: ChannelType }

/** A channel for display, with its secrets masked. */
export interface Channel extends Omit<ChannelFields, 'settings'> {
  id: string
  type: ChannelType
  hint: string
  /** Null if they can't be decrypted. */
  settings: Settings | null
  createdAt: number
  updatedAt: number
  lastAt: number | null
  lastError: string | null
}

export type Channels = ReturnType<typeof createChannels>

/** Where tenants, and the installation for null, are notified of alerts. */
export function createChannels(parts: {
  db: Db
  clock: Clock
  audit: Audit
  sealing: Sealing
  store: ReturnType<typeof createChannelStore>
  checks: ReturnType<typeof createChecks>
}) {
  const { db, clock, audit, sealing, store, checks } = parts

  const list = (tenantId: string | null): Channel[] => store.list(tenantId).map(present)
  const get = (tenantId: string | null, id: string): Channel => present(existing(tenantId, id))

  const existing = (tenantId: string | null, id: string): ChannelRow =>
    store.find(tenantId, id) ?? fail(notFound('channel not found'))

  /** The secret is that of a webhook, which is shown only once. */
  async function create(
    tenantId: string | null,
    actor: Actor,
    { type, ...input }: NewChannel,
  ): Promise<{ channel: Channel; secret: string | undefined }> {
    const fields = { ...newFields(type), ...input }
    const checked = checkedSettings(type, fields.settings, {})
    checks.check(tenantId, { ...fields, type, settings: checked })
    const secret = type === 'webhook' ? newSecret() : undefined
    const settings = secret ? { ...checked, secrets: [{ secret, expiresAt: null }] } : checked
    const id = newId()
    const now = clock.now()
    const channel = await commit(tenantId, () => {
      if (store.list(tenantId).length >= MAX_CHANNELS)
        throw conflict(`limit reached: ${MAX_CHANNELS} channels; delete one first`)
      store.insert({
        ...rowOf(id, type, { ...fields, settings }),
        id,
        tenantId,
        type,
        createdAt: now,
        updatedAt: now,
        lastAt: null,
        lastError: null,
      })
      record(tenantId, actor, 'channel.created', id, { type })
      return get(tenantId, id)
    })
    return { channel, secret }
  }

  function update(
    tenantId: string | null,
    actor: Actor,
    id: string,
    change: Partial<ChannelFields>,
  ): Promise<Channel> {
    return commit(tenantId, () => {
      const before = existing(tenantId, id)
      const { type } = before
      const known = readable(before)
      const settings = change.settings
        ? { ...signingOf(known), ...checkedSettings(type, change.settings, known ?? {}) }
        : known
      if (type === 'webhook' && !settings?.secrets) throw conflict(UNREADABLE)
      const fields = { ...present(before), ...change, settings: settings ?? {} }
      checks.check(tenantId, { ...fields, type, ...(!change.settings && { settings: null }) })
      const row = settings
        ? rowOf(id, type, fields)
        : { ...rowOf(id, type, fields), ...kept(before) }
      store.update({ ...before, ...row, updatedAt: clock.now() })
      record(tenantId, actor, 'channel.updated', id, { fields: Object.keys(change) })
      return get(tenantId, id)
    })
  }

  const remove = (tenantId: string | null, actor: Actor, id: string): Promise<void> =>
    commit(tenantId, () => {
      if (!store.remove(tenantId, id)) throw notFound('channel not found')
      record(tenantId, actor, 'channel.deleted', id)
    })

  /** Returns the new secret; the old one signs for `graceMs` more. */
  function rotateSecret(
    tenantId: string | null,
    actor: Actor,
    id: string,
    { secret = newSecret(), graceMs }: { secret?: string | undefined; graceMs: number },
  ): Promise<{ secret: string; previousExpiresAt: number | null }> {
    checkSecret(secret)
    return commit(tenantId, () => {
      const row = existing(tenantId, id)
      if (row.type !== 'webhook') throw conflict('only a webhook has a secret')
      const settings = readable(row) ?? fail(conflict(UNREADABLE))
      const secrets = rotate(settings.secrets as SigningSecret[], secret, {
        now: clock.now(),
        graceMs,
      })
      store.update({
        ...row,
        settings: sealSettings(sealing, id, { ...settings, secrets }),
        updatedAt: clock.now(),
      })
      record(tenantId, actor, 'channel.secret_rotated', id, { graceMs })
      return { secret, previousExpiresAt: secrets[1]?.expiresAt ?? null }
    })
  }

  /** The settings for use. Throws `conflict` if they can't be decrypted. */
  const open = (tenantId: string | null, id: string): { row: ChannelRow; settings: Settings } => {
    const row = existing(tenantId, id)
    return { row, settings: readable(row) ?? fail(conflict(UNREADABLE)) }
  }

  /** Undefined if they were sealed with another master key, so that the channel can be repaired. */
  function readable({ id, settings }: ChannelRow): Settings | undefined {
    try {
      return openSettings(sealing, id, settings)
    } catch (error) {
      if (error instanceof SealError) return undefined
      throw error
    }
  }

  const rowOf = (id: string, type: ChannelType, fields: ChannelFields) => ({
    name: fields.name,
    settings: sealSettings(sealing, id, fields.settings),
    hint: FORMATS[type].hintOf(fields.settings as never),
    kinds: fields.kinds === null ? null : JSON.stringify(fields.kinds),
    minSeverity: fields.minSeverity,
    isActive: fields.isActive,
  })

  const kept = ({ settings, hint }: ChannelRow) => ({ settings, hint })

  function present(row: ChannelRow): Channel {
    const { tenantId: _, seq: __, kinds, ...shown } = row
    const settings = readable(row)
    return {
      ...shown,
      kinds: kinds === null ? null : JSON.parse(kinds),
      settings: settings ? maskedSettings(row.type, settings) : null,
    }
  }

  const commit = <T>(tenantId: string | null, work: () => T) =>
    db.commitFor(tenantId ?? '', work as never) as Promise<T>

  function record(
    tenantId: string | null,
    actor: Actor,
    action: string,
    id: string,
    detail: Record<string, unknown> = {},
  ) {
    const entry = { actor, action, object: `channel:${id}`, detail }
    if (tenantId === null) audit.recordForOperators(entry)
    else audit.record({ tenantId, ...entry })
  }

  return { list, get, open, create, update, remove, rotateSecret, tried: store.tried }
}

/** The secrets of a webhook, which only a rotation changes. */
const signingOf = ({ secrets }: Settings = {}) => secrets !== undefined && { secrets }

const newFields = (type: ChannelType): ChannelFields => ({
  name: FORMATS[type].label,
  settings: {},
  kinds: null,
  minSeverity: 'warning',
  isActive: true,
})
