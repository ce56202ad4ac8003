import type { FlowPage } from '../../src/engines/gate/flows/pages.ts'
import type { Form } from './forms.ts'
import { hasError, type InputNode, isField, textIn } from './nodes.ts'

/**
 * A recovery code is for emergencies. It stands behind a fold where there is another way, until
 * somebody uses it.
 */
export const isFolded = (form: Form, forms: Form[], { flow }: FlowPage): boolean =>
  form.group === 'lookup_secret' &&
  forms.length > 1 &&
  flow.active !== 'lookup_secret' &&
  form.content.every(({ messages }) => messages.length === 0)

/**
 * Where typing goes at first: to what has to be corrected, else to what is still empty. A page of
 * settings stays at its top, for nobody knows which of them somebody came for.
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
