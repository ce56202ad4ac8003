import type { FormError } from '../../../../../views/console/form/error-summary.tsx'
import { NewIdentityPage } from '../../../../../views/console/pages/gate/identities/new.tsx'
import type { NewIdentity } from '../../../../engines/gate/identities/model.ts'
import type { Fields } from '../../../../http/body.ts'
import { asTyped, submitted, typed } from '../../../form.ts'
import { crumbTo } from '../../../frame.ts'
import type { Visit } from '../asked.ts'
import type { GateParts } from '../parts.ts'
import { metadataIn } from './metadata.ts'

/** Creates a user. */
export function newIdentity({ frames, gate }: GateParts) {
  const form = (
    { request, visitor }: Visit,
    of: { typed?: Fields; errors?: readonly FormError[] } = {},
  ): Response =>
    frames.page({
      request,
      visitor,
      title: 'New user',
      active: 'identities',
      above: [crumbTo(frames.base(), 'identities')],
      status: of.errors ? 422 : 200,
      children: NewIdentityPage({ base: frames.base(), ...of }),
    })

  async function create(visit: Visit): Promise<Response> {
    const { caller, body } = visit
    const { value, errors } = await submitted(
      async () => gate.identities.create(caller, wantedIn(body)),
      FIELDS,
    )
    return value
      ? frames.go(`/console/identities/${value.id}?done=created`)
      : form(visit, { typed: body, errors })
  }

  return { form, create }
}

/** API names of the form's fields. */
const FIELDS = {
  'traits.email': 'email',
  'credentials.password.config.password': 'password',
  metadata: 'metadata',
}

function wantedIn(body: Fields): NewIdentity {
  const email = typed(body, 'email')
  const password = asTyped(body, 'password')
  return {
    schema_id: 'user',
    traits: { email },
    metadata_public: metadataIn(body),
    ...(password !== '' && { credentials: { password: { config: { password } } } }),
    ...(typed(body, 'verified') !== '' && {
      verifiable_addresses: [{ value: email, verified: true }],
    }),
  }
}
