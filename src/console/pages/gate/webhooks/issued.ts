import { crumbTo, type Layout } from '../../../layout.ts'
import type { Context } from '../context.ts'
import { IssuedSecretPage } from './form-view.tsx'

/** Shows the secret in the response to the form, because no other page can. */
export const issuedSecret = (
  layout: Layout,
  { request, operator }: Context,
  of: { id: string; secret: string; title: string; intro: string },
): Response =>
  layout.page({
    request,
    operator,
    title: of.title,
    active: 'webhooks',
    above: [crumbTo(layout.base(), 'webhooks')],
    children: IssuedSecretPage({ base: layout.base(), ...of }),
  })
