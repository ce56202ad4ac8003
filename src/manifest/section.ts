import type { TSchema } from '@sinclair/typebox'
import type { Caller } from '../platform/caller.ts'
import { type AppError, invalid } from '../platform/errors.ts'
import { isObject } from './values.ts'

/** An object of a manifest or, in the same form, of the database. */
export type Item = Readonly<Record<string, unknown>>

export interface Stored {
  id: string
  /** Every field that a manifest can have. Secrets are not masked. */
  item: Item
}

/** What exists only after an object is created. */
export interface Created {
  id: string
  /** Shown once, such as an API key. */
  secret?: string | null
  /** Of a monitor. */
  ping_url?: string | null
}

/** Objects of one kind. The API and a manifest have the same fields and rules, by the same services. */
export interface Collection {
  readonly type: 'collection'
  /** The name in a manifest, such as `jobs`. */
  readonly name: string
  /** One of them, such as `job`. */
  readonly noun: string
  /** The field that tells one from another. */
  readonly key: 'name' | 'url'
  readonly schema: TSchema
  /** The fields that are set if a manifest omits them. Any other omitted field stays as it is. */
  defaultsOf(item: Item): Item
  /** What a new object has of the other fields. An export omits these values. */
  readonly initial: Item
  /** The same object without its secrets. */
  masked(item: Item): Item
  list(caller: Caller): readonly Stored[]
  create(caller: Caller, item: Item): Promise<Created>
  /** Changes only the given fields. */
  update(caller: Caller, id: string, change: Item): Promise<unknown>
  remove(caller: Caller, id: string): Promise<unknown>
}

/** A setting that exists once. */
export interface Setting {
  readonly type: 'setting'
  /** The name in a manifest, where a dot leads into a table, such as `sign_in.sessions`. */
  readonly name: string
  readonly schema: TSchema
  /** Completes a value that a manifest gives in part. */
  complete(value: unknown): unknown
  read(caller: Caller): unknown
  write(caller: Caller, value: unknown): Promise<unknown>
  /** Whether a value is what a new tenant has, so that an export omits it. */
  isDefault(value: unknown): boolean
}

export type Section = Collection | Setting

/** A collection whose functions know the type of its items. */
export function collection<T extends object>(
  of: Omit<Collection, 'type' | 'initial' | 'masked' | 'create' | 'update' | 'schema'> & {
    schema: TSchema & { static: T }
    initial?: Item
    masked?: (item: Item) => Item
    create: (caller: Caller, item: T) => Promise<Created>
    update: (caller: Caller, id: string, change: Partial<T>) => Promise<unknown>
  },
): Collection {
  return { type: 'collection', initial: {}, masked: (item: Item) => item, ...of } as Collection
}

/** A setting whose functions know the type of its value; a partial object is completed by `defaults`. */
export function setting<T>(of: {
  name: string
  schema: TSchema & { static: unknown }
  defaults: T
  read: (caller: Caller) => T
  write: (caller: Caller, value: T) => Promise<unknown>
}): Setting {
  const { defaults, ...rest } = of
  return {
    type: 'setting',
    ...rest,
    complete: (value) =>
      isObject(defaults) && isObject(value) ? { ...defaults, ...value } : value,
    isDefault: (value) => Bun.deepEquals(value, defaults),
  } as Setting
}

/** The error of an update of a field that only a new object can have. */
export const readOnly = (field: string, noun: string): AppError =>
  invalid(`cannot be changed. Create a ${noun} with another name`, { field, rule: 'read_only' })
