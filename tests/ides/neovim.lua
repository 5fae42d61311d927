-- Drive Neovim with the settings of docs/how-to/editor.md: `nvim --headless --clean -l neovim.lua ROOT PYTHON`.

local root, python = arg[1], arg[2]
local tool, skill = root .. "/tools_md/pick-fruit.tool.md", root .. "/skills_md/harvest.skill.md"
vim.filetype.add({ extension = { md = "markdown" } })
vim.lsp.config("toolmd", {
  cmd = { python, "-m", "toolmd", "lsp" },
  filetypes = { "markdown", "python" },
  root_markers = { "toolmd.toml", "pyproject.toml" },
})
vim.lsp.enable("toolmd")

local function step(name, done)
  local began = vim.uv.hrtime()
  local ok, why = pcall(done)
  print(string.format("%-12s %5.1f s  %s", name, (vim.uv.hrtime() - began) / 1e9, ok and "passed" or "failed: " .. tostring(why)))
  io.stdout:flush()
  if not ok then os.exit(1) end
end

local function wait(what, ready)
  assert(vim.wait(60000, ready, 20), what)
end

local function open(file)
  vim.cmd.edit({ file, bang = true })
  vim.bo.filetype = "markdown"
end

-- Put the cursor into a text of the buffer, at its last character.
local function at(text)
  for number, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    local _, last = line:find(text, 1, true)
    if last then
      vim.api.nvim_win_set_cursor(0, { number, last - 1 })
      return number
    end
  end
  error("no line has " .. text)
end

local function ask(method, more)
  local params = vim.tbl_extend("force", vim.lsp.util.make_position_params(0, "utf-16"), more or {})
  local answers = assert(vim.lsp.buf_request_sync(0, "textDocument/" .. method, params, 60000))
  for _, answer in pairs(answers) do
    assert(not answer.err, vim.inspect(answer.err))
    return answer.result
  end
end

step("attach", function()
  open(tool)
  wait("no client", function() return #vim.lsp.get_clients({ bufnr = 0 }) == 1 end)
end)

step("diagnostics", function()
  local number = at("- **Type**: string")
  vim.api.nvim_buf_set_lines(0, number - 1, number, false, { "- **Type**: strng" })
  wait("no diagnostic", function()
    local found = vim.diagnostic.get(0)
    return #found == 1 and found[1].code == "unknown-type"
  end)
end)

step("fix", function()
  at("strn")
  vim.lsp.buf.code_action({ apply = true, filter = function(action) return action.kind == "quickfix" end })
  wait("not fixed", function() return vim.fn.search("- \\*\\*Type\\*\\*: string", "nw") > 0 end)
  wait("still a diagnostic", function() return #vim.diagnostic.get(0) == 0 end)
end)

step("completion", function()
  at("`amount > 2")
  local items = ask("completion")
  items = items.items or items
  assert(items[1].label == "treeName", vim.inspect(items[1]))
end)

step("hover", function()
  at("basket.size >= amoun")
  assert(ask("hover").contents.value:find("1 to 50", 1, true))
end)

step("definition", function()
  open(skill)
  wait("no client", function() return #vim.lsp.get_clients({ bufnr = 0 }) == 1 end)
  at("**Use**: pick")
  assert(ask("definition")[1].uri == vim.uri_from_fname(tool))
end)

vim.cmd("silent! wall")
os.exit(0)
