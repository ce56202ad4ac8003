import { invalid } from '../../../platform/errors.ts'
import type { Evaluation, Question } from './model.ts'
import { type Resource, resourceOf } from './policy/question.ts'

/**
 * Converts an OpenID AuthZEN request. Properties become context: they are only claims of the
 * caller. A resource's id may contain colons and does not determine its type.
 */
export function questionOf(evaluation: Evaluation): { question: Question; resource: Resource } {
  const { subject, action, resource } = evaluation
  const question = {
    subject: subject.id,
    action: action.name,
    resource: `${resource.type}:${resource.id}`,
    context: contextOf(evaluation),
  }
  return { question, resource: resourceOf(resource.type, resource.id) }
}

function contextOf({ subject, action, resource, context = {} }: Evaluation): object {
  const properties = Object.entries({ subject, action, resource }).flatMap(
    ([name, { properties }]) => (properties === undefined ? [] : [[name, properties]]),
  )
  if (properties.length === 0) return context
  if (Object.hasOwn(context, 'properties'))
    throw invalid('is reserved for the properties of subject, action and resource', {
      field: 'context.properties',
      rule: 'reserved',
    })
  return { ...context, properties: Object.fromEntries(properties) }
}
