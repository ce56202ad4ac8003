import type { CedarValueJson, EntityJson, TypeAndId } from '@cedar-policy/cedar-wasm/web'
import type { JsonObject } from '../../identities/documents/json.ts'
import type { Person, Principal, Question, Resource } from './question.ts'

/** A question in terms of policies, with the entities involved. */
export interface Asked {
  principal: TypeAndId
  action: TypeAndId
  resource: TypeAndId
  context: JsonObject
  entities: EntityJson[]
}

/** Metadata in the form that policies can read. */
type Metadata = Record<string, CedarValueJson> | undefined

/**
 * Everything is passed as JSON, so nothing has to be escaped. A principal that is also the resource
 * appears once, with all attributes and the metadata given for it.
 */
export function asked(question: Question, metadata: Metadata): Asked {
  const { tenantId, principal, action, resource, context } = question
  const tenant = { type: 'Tenant', id: tenantId }
  const who = principalUid(principal)
  const what = resourceUid(resource)
  const subject =
    principal.kind === 'identity'
      ? personEntity(who, principal, tenant, metadata)
      : resourceEntity(who, tenant)
  const entities = [subject, actionEntity(action)]
  if (!isSame(who, what)) entities.push(resourceEntity(what, tenant))
  return { principal: who, action: actionUid(action), resource: what, context, entities }
}

const isSame = (one: TypeAndId, other: TypeAndId) => one.type === other.type && one.id === other.id

const actionUid = (id: string): TypeAndId => ({ type: 'Action', id })

const principalUid = ({ kind, id }: Principal): TypeAndId => ({
  type: kind === 'identity' ? 'Identity' : 'Service',
  id,
})

function resourceUid(resource: Resource): TypeAndId {
  switch (resource.kind) {
    case 'tenant':
      return { type: 'Tenant', id: resource.id }
    case 'identity':
      return { type: 'Identity', id: resource.id }
    default:
      return { type: resource.type.map(typeName).join('::'), id: resource.id }
  }
}

/** Converts `access-key` to `AccessKey`. `parseResource` makes sure that names are unique. */
const typeName = (word: string): string =>
  word.replace(/(^|-)([a-z])/g, (_, _hyphen, letter: string) => letter.toUpperCase())

/** An action such as `keys.read` belongs to the groups `*`, `keys.*` and `*.read`. */
function actionEntity(action: string): EntityJson {
  const words = action.split('.')
  const groups = words.slice(1).map((_, index) => `${words.slice(0, index + 1).join('.')}.*`)
  if (words.length > 1) groups.push(`*.${words.at(-1)}`)
  return { uid: actionUid(action), attrs: {}, parents: ['*', ...groups].map(actionUid) }
}

function personEntity(
  uid: TypeAndId,
  person: Person,
  tenant: TypeAndId,
  metadata: Metadata,
): EntityJson {
  const roles = [...new Set(person.roles)]
  const { email, isEmailVerified: email_verified } = person
  const attrs = { ...common(uid, tenant), email, email_verified, roles }
  return {
    uid,
    attrs: metadata === undefined ? attrs : { ...attrs, metadata },
    parents: [...roles.map((id) => ({ type: 'Role', id })), tenant],
  }
}

/** An entity of another tenant belongs to no tenant. */
const resourceEntity = (uid: TypeAndId, tenant: TypeAndId): EntityJson =>
  uid.type === 'Tenant'
    ? { uid, attrs: { id: uid.id }, parents: [] }
    : { uid, attrs: common(uid, tenant), parents: [tenant] }

const common = (uid: TypeAndId, tenant: TypeAndId): Record<string, CedarValueJson> => ({
  id: uid.id,
  tenant: { __entity: tenant },
})
