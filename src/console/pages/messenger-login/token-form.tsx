import { Button } from '../../../../views/ui/form/button.tsx'
import { Field } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'

/** Form for a bot token, which is never shown again, not even in a rejected form. */
export const TokenForm = ({ verb, isNew }: { verb: string; isNew?: boolean }) => (
  <PageForm action="token" buttons={<Button weight={isNew ? 'primary' : 'plain'}>{verb}</Button>}>
    <Field
      name="token"
      type="password"
      label="Token"
      isMono
      isRequired
      help="The token from BotFather. It is encrypted and never shown again."
    />
  </PageForm>
)
