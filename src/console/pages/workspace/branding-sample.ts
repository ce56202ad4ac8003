import type { FlowPage } from '../../../engines/gate/sign-in/flows/pages.ts'
import {
  codeLogin,
  createSay,
  identifierNode,
  passwordLogin,
  socialButtons,
} from '../../../engines/gate/sign-in/flows/ui/index.ts'
import type { Language, Node } from '../../../engines/gate/sign-in/model.ts'
import type { Theme } from '../../../platform/branding/contrast.ts'
import type { BrandingSettings } from '../../../platform/branding/index.ts'
import type { PageContext } from '../../page.tsx'

/** The sign-in page of a tenant, with its sign-in methods. */
export function samplePage(
  { gate, tenantId, caller }: PageContext,
  { theme, name, branding }: { theme: Theme; name: string; branding: BrandingSettings },
): FlowPage {
  const language: Language = 'en'
  const say = createSay(language)
  const { providers } = gate.signInMethods.enabledProviders(tenantId)
  const { passwordless_enabled: hasCodes } = gate.signInMethods.security(caller('gate', 'live'))
  const nodes = [
    ...socialButtons(say, 'login', providers),
    identifierNode(say),
    ...passwordLogin(say, { isRefresh: false }),
    ...(hasCodes ? codeLogin(say) : []),
  ].map((node) => named(node, theme))
  return {
    kind: 'login',
    language,
    status: 200,
    tenantName: name,
    branding,
    flow: {
      id: '',
      type: 'browser',
      issued_at: '',
      expires_at: '',
      request_url: '',
      hosted_url: '',
      state: 'choose_method',
      ui: { action: '#', method: 'POST', nodes },
    },
  }
}

/** Under a name of its own, so that samples in two themes have different IDs. */
const named = (node: Node, theme: Theme): Node => {
  const attributes = { ...node.attributes, name: `${node.attributes.name}-${theme}` }
  return { ...node, attributes } as Node
}
