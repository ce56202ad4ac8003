import type { FormError } from '../../../../../views/console/form/error-summary.tsx'
import { rawText } from '../../../../../views/console/form/values.ts'
import { NewIdentityPage } from '../../../../../views/console/pages/gate/identities/new.tsx'
import type { NewIdentity } from '../../../../engines/gate/identities/model.ts'
import type { Fields } from '../../../../http/body.ts'
import { submitted, trimmedText } from '../../../form.ts'
import { crumbTo } from '../../../layout.ts'
import type { Context } from '../context.ts'
import type { GateParts } from '../parts.ts'
import { metadataIn } from './metadata.ts'

/** Creates a user. */
export function newIdentity({ layout, gate }: GateParts) {
  const form = (
    { request, operator }: Context,
    of: { values?: Fields; errors?: readonly FormError[] } = {},
  ): Response =>
    layout.page({
      request,
      operator,
      title: 'New user',
      active: 'identities',
      above: [crumbTo(layout.base(), 'identities')],
      status: of.errors ? 422 : 200,
      children: NewIdentityPage({ base: layout.base(), ...of }),
    })

  async function create(context: Context): Promise<Response> {
    const { caller, body } = context
    const { value, errors } = await submitted(
      async () => gate.identities.create(caller, wantedIn(body)),
      FIELDS,
    )
    return value
      ? layout.go(`/console/identities/${value.id}?done=created`)
      : form(context, { values: body, errors })
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
  const email = trimmedText(body, 'email')
  const password = rawText(body, 'password') ?? ''
  return {
    schema_id: 'user',
    traits: { email },
    metadata_public: metadataIn(body),
    ...(password !== '' && { credentials: { password: { config: { password } } } }),
    ...(trimmedText(body, 'verified') !== '' && {
      verifiable_addresses: [{ value: email, verified: true }],
    }),
  }
}
