import { IssuedSecretPage } from '../../../../../views/console/pages/gate/webhooks/form.tsx'
import { crumbTo, type Frames } from '../../../frame.ts'
import type { Visit } from '../asked.ts'

/** Shows the secret in the response to the form, because no other page can. */
export const issuedSecret = (
  frames: Frames,
  { request, visitor }: Visit,
  of: { id: string; secret: string; title: string; intro: string },
): Response =>
  frames.page({
    request,
    visitor,
    title: of.title,
    active: 'webhooks',
    above: [crumbTo(frames.base(), 'webhooks')],
    children: IssuedSecretPage({ base: frames.base(), ...of }),
  })
