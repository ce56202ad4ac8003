import type { EntityJson } from '@cedar-policy/cedar-wasm/web'
import { allOf, type Dependencies, needsEntities } from './dependencies.ts'
import type { Asked } from './entities.ts'
import type { Policy } from './parse.ts'
import { type PolicyTexts, textsOf } from './policy-texts.ts'
import { type Forms, formOf, keysOf } from './scope.ts'

/** Policies with the same scope, as texts that apply to everything. */
export interface PolicyGroup extends PolicyTexts {
  /** Identifies it in its set. */
  number: number
  dependencies: Dependencies
  needsEntities: boolean
}

type ByResource = Map<string, PolicyGroup[]>
type ByPrincipal = Map<string, ByResource>

export type PolicyGroups = ReturnType<typeof groupPolicies>

/** Finds the policies whose scope a question is in, without evaluating the others. */
export function groupPolicies(policies: readonly Policy[]) {
  const byAction = new Map<string, ByPrincipal>()
  const forms = {
    action: formsOf(policies.flatMap(({ scope }) => scope.action)),
    principal: formsOf(policies.map(({ scope }) => scope.principal)),
    resource: formsOf(policies.map(({ scope }) => scope.resource)),
  }
  const byScope = Map.groupBy(policies, ({ scope }) => JSON.stringify(scope)).values()
  for (const [number, members] of [...byScope].entries())
    index({ number, ...grouped(members) }, members[0] as Policy)

  function index(group: PolicyGroup, { scope }: Policy) {
    for (const action of scope.action) {
      const byPrincipal = byAction.getOrInsertComputed(action, () => new Map())
      const byResource = byPrincipal.getOrInsertComputed(scope.principal, () => new Map())
      byResource.getOrInsertComputed(scope.resource, () => []).push(group)
    }
  }

  /** The groups whose scope the question is in, each once. */
  function groupsFor({ entities }: Asked): PolicyGroup[] {
    const [subject, action, object = subject] = entities as [EntityJson, EntityJson, EntityJson?]
    const found = new Set<PolicyGroup>()
    const subjectKeys = keysOf(subject, forms.principal)
    const objectKeys = keysOf(object, forms.resource)
    for (const byPrincipal of at(byAction, keysOf(action, forms.action)))
      for (const byResource of at(byPrincipal, subjectKeys))
        for (const groups of at(byResource, objectKeys))
          for (const group of groups) found.add(group)
    return [...found]
  }

  return { groupsFor }
}

const formsOf = (keys: readonly string[]): Forms => new Set(keys.map(formOf))

function grouped(policies: readonly Policy[]): Omit<PolicyGroup, 'number'> {
  const dependencies = allOf(policies.map(({ dependencies }) => dependencies))
  return {
    ...textsOf(policies.map(({ name, unscoped }) => [name, unscoped])),
    dependencies,
    needsEntities: needsEntities(dependencies),
  }
}

function at<V>(map: ReadonlyMap<string, V>, keys: readonly string[]): V[] {
  const values: V[] = []
  for (const key of keys) {
    const value = map.get(key)
    if (value) values.push(value)
  }
  return values
}
