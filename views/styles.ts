import brandingSamples from './branding/samples.css' with { type: 'text' }
import base from './layout/base.css' with { type: 'text' }
import consoleLayout from './layout/console-layout.css' with { type: 'text' }
import palette from './layout/palette.css' with { type: 'text' }
import plainLayout from './layout/plain-layout.css' with { type: 'text' }
import sidebar from './layout/sidebar.css' with { type: 'text' }
import toast from './layout/toast.css' with { type: 'text' }
import topbar from './layout/topbar.css' with { type: 'text' }
import touch from './layout/touch.css' with { type: 'text' }
import referenceOperation from './reference/operation.css' with { type: 'text' }
import reference from './reference/reference.css' with { type: 'text' }
import banner from './ui/banner.css' with { type: 'text' }
import bulk from './ui/bulk.css' with { type: 'text' }
import charts from './ui/charts/charts.css' with { type: 'text' }
import code from './ui/code.css' with { type: 'text' }
import confirm from './ui/confirm.css' with { type: 'text' }
import emptyState from './ui/empty-state.css' with { type: 'text' }
import events from './ui/events.css' with { type: 'text' }
import exchange from './ui/exchange.css' with { type: 'text' }
import filterBar from './ui/filter-bar.css' with { type: 'text' }
import button from './ui/form/button.css' with { type: 'text' }
import codeEditor from './ui/form/code-editor.css' with { type: 'text' }
import form from './ui/form/form.css' with { type: 'text' }
import guide from './ui/guide.css' with { type: 'text' }
import id from './ui/id.css' with { type: 'text' }

import pager from './ui/pager.css' with { type: 'text' }
import pages from './ui/pages.css' with { type: 'text' }
import secretPanel from './ui/secret-panel.css' with { type: 'text' }
import section from './ui/section.css' with { type: 'text' }
import status from './ui/status.css' with { type: 'text' }
import table from './ui/table.css' with { type: 'text' }
import tabs from './ui/tabs.css' with { type: 'text' }
import tiles from './ui/tiles.css' with { type: 'text' }

/**
 * Style sheet of the console. Its parts are beside the components that they are for, in an order that
 * counts where rules of equal specificity meet.
 */
export const consoleCss = [
  base,
  consoleLayout,
  topbar,
  sidebar,
  pages,
  banner,
  status,
  exchange,
  section,
  button,
  id,
  tiles,
  tabs,
  filterBar,
  form,
  codeEditor,
  table,
  bulk,
  pager,
  events,
  code,
  secretPanel,
  guide,
  charts,
  confirm,
  brandingSamples,
  emptyState,
  toast,
  palette,
  plainLayout,
  reference,
  referenceOperation,
  touch,
].join('\n')
