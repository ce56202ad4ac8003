import type { FlowPage } from '../../src/engines/gate/sign-in/flows/pages.ts'
import type { Form } from './forms.ts'
import { hasError, type InputNode, isField, textIn } from './nodes.ts'

/**
 * Recovery codes are for emergencies, so their form is collapsed if there is another method, until
 * one was used.
 */
export const isFolded = (form: Form, forms: Form[], { flow }: FlowPage): boolean =>
  form.group === 'lookup_secret' &&
  forms.length > 1 &&
  flow.active !== 'lookup_secret' &&
  form.content.every(({ messages }) => messages.length === 0)

/**
 * The field to focus: the first one with an error, otherwise the first empty one. Settings pages
 * focus only errors, because the user may want to change anything.
 */
export function focusOf(page: FlowPage, forms: Form[]): InputNode | undefined {
  const fields = forms
    .filter((form) => page.kind === 'settings' || !isFolded(form, forms, page))
    .flatMap(({ content }) => content.filter(isField))
    .filter(({ attributes }) => !attributes.disabled)
  const wrong = fields.find(hasError)
  return wrong ?? (page.kind === 'settings' ? undefined : fields.find(isEmpty))
}

const isEmpty = (node: InputNode) => node.attributes.type !== 'checkbox' && textIn(node) === ''
