import { Button } from '../../../../views/ui/form/button.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { checkAll, trimmedText } from '../../form.ts'
import { good, page, usePage } from '../../page.tsx'
import { ExpiryField, expiryIn, KEY_FIELDS, NameAndNote, nameIn } from './key-fields.tsx'
import { type KeyOwner, OF_TENANT } from './key-owner.ts'
import { canExpire, labelOf } from './keys.tsx'

/** The form of an existing API key: name, note and, while it is in use, expiry. */
export const editKeyOf = ({ right, idIn }: KeyOwner) =>
  page({
    path: '/keys/:id/edit',
    section: 'keys',
    right,
    title: 'Edit API key',

    load: (context) => ({ key: context.keys.find(idIn(context), context.params.id) }),

    above: ({ key }, { href }) => [{ label: labelOf(key), href: href(`/keys/${key.id}`) }],

    view({ key }) {
      const { now } = usePage()
      return (
        <>
          <PageHead
            title="Edit API key"
            state={{ sentence: <Text text={labelOf(key)} limit={80} /> }}
          />
          <PageForm
            action=""
            buttons={<Button weight="primary">Save changes</Button>}
            cancel={`/keys/${key.id}`}
          >
            <NameAndNote {...key} />
            {canExpire(key, now) && <ExpiryField current={key.expires_at} />}
          </PageForm>
        </>
      )
    },

    actions: {
      '': {
        right,
        form: KEY_FIELDS,
        flash: good('API key saved.'),
        async run(context) {
          const { keys, actor, params, fields, now } = context
          const key = keys.find(idIn(context), params.id)
          const expiryOf = () => (canExpire(key, now) ? expiryIn(context) : undefined)
          checkAll([() => nameIn(context), expiryOf])
          const change = { name: nameIn(context), note: trimmedText(fields, 'note') }
          await keys.change(actor, key.id, { ...change, expiry: expiryOf() })
          return { to: `/keys/${key.id}` }
        },
      },
    },
  })

export const editKey = editKeyOf(OF_TENANT)
